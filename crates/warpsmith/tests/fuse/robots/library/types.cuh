/* element types of the robotics library */
#ifndef ROBO_TYPES_CUH
#define ROBO_TYPES_CUH
typedef float *real;      // warpsmith: elements 1
typedef float *vec2;      // warpsmith: elements 2
typedef float *vec3;      // warpsmith: elements 3
typedef float* vec4;      // warpsmith: elements 4
typedef float *quat;      // warpsmith: elements 4
typedef float *vec7;      // warpsmith: elements 7
typedef float *sym3;      // warpsmith: elements 6
typedef float *mat2;      // warpsmith: elements 4
typedef float *mat4;      // warpsmith: elements 16
typedef float *mat8;      // warpsmith: elements 64
typedef float *vec20;     // warpsmith: elements 20
typedef float *mat20;     // warpsmith: elements 400
#endif
