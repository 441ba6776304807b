/* Parameters of C functions that compiled programs of irax call (irax.ffi).

       void scale(IRAX_ARRAY(const float, x), IRAX_ARRAY(float, y), double factor)
       {
           for (int64_t i = 0; i < irax_size(x_rank, x_extents); i++)
               y[i] = factor * x[i];
       }
*/
#ifndef IRAX_FFI_H
#define IRAX_FFI_H

#include <stdint.h>

/* An operand or a result: its elements, the last dimension closest; the number of its dimensions,
   and their lengths. */
#define IRAX_ARRAY(type, name) type *name, int64_t name##_rank, const int64_t *name##_extents

/* The number of elements. */
static inline int64_t irax_size(int64_t rank, const int64_t *extents)
{
    int64_t size = 1;
    for (int64_t i = 0; i < rank; i++)
        size *= extents[i];
    return size;
}

#endif
