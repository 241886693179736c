// Read before every source: what the runtime would call of an operating system is shim.c's, so that the module imports
// nothing.
#define abort no_abort
#define fprintf no_fprintf
#define snprintf no_snprintf
#define vsnprintf no_vsnprintf
#define fputc no_fputc
#define fputs no_fputs
#define fwrite no_fwrite
#define fclose no_fclose
#define fdopen no_fdopen
#define dup no_dup
#define clock_gettime no_clock_gettime
#include <stdio.h>
#undef stderr
#define stderr ((FILE *)0)
