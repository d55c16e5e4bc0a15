#include "tool/pto.h"
