/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stands in for the pyconfig.h that CPython's build writes, which tells of one machine and is no part of what compiling
 * under the limited API needs. With it the headers of any CPython from 3.11 on serve every platform that the kernel is
 * compiled for: 64 bits, Linux and macOS (LP64), Windows (LLP64, 16-bit wchar_t).
 */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#define STDC_HEADERS 1
#define HAVE_ERRNO_H 1
#define HAVE_FCNTL_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDINT_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1
#define WITH_THREAD 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define ALIGNOF_SIZE_T 8

#ifdef _WIN32

#define MS_WINDOWS
#define MS_WIN64
#define NT_THREADS
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED 1
#define SIZEOF_LONG 4
#define SIZEOF_WCHAR_T 2
typedef long long Py_ssize_t;
#define HAVE_PY_SSIZE_T 1
#define PY_SSIZE_T_MAX ((Py_ssize_t)(((size_t)-1) >> 1))

#else

#define HAVE_PTHREAD_H 1
#define HAVE_SSIZE_T 1
#define HAVE_SYS_SELECT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_UNISTD_H 1
#define SIZEOF_LONG 8
#define SIZEOF_PTHREAD_T 8
#define SIZEOF_WCHAR_T 4

#endif

#endif
