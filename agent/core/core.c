/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/core.h"

struct core core;
