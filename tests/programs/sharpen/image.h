typedef struct {
    int w, h, stride;
    float *pixels;
} Image;

typedef struct {
    float centre, around;
} Filter;

void sharpen(Image in, Image out, Filter f);
