// The element types: each a pointer to float, and the number of floats that one element has. Element e of an array of
// 3x3 matrices begins at offset 9 * e; rows follow one another.

#pragma once

typedef float *scalar;         // warpsmith: elements 1
typedef float *vector3;        // warpsmith: elements 3
typedef float *matrix3x3;      // warpsmith: elements 9
typedef float *matrix5x5;      // warpsmith: elements 25
typedef float *tensor3x3x3;    // warpsmith: elements 27
typedef float *tensor3x3x3x3;  // warpsmith: elements 81
typedef float *matrix4x4; // warpsmith: elements 16
typedef float *quaternion; // warpsmith: elements 4
typedef float *vector7; // warpsmith: elements 7
