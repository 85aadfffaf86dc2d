/* What an object says of a kernel's parameters: an array `msl_info_<kernel>` of these, read from the object's bytes. */
#ifndef MSL_INFO_H
#define MSL_INFO_H
struct msl_info {
  unsigned int space;      /* 0 none, 1 device, 2 constant, 3 threadgroup */
  unsigned int is_const;   /* 0, 1 */
  unsigned int pointer;    /* 0: a value or a reference */
  unsigned int scalar;     /* 0 other, 1 bool, 2 signed, 3 unsigned, 4 float or half, 5 bfloat */
  unsigned int components; /* of a vector, else 1 */
  unsigned int bytes, align;
};
#endif
