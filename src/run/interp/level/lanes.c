/* lanes.c: the steps of the lane functions of one family, isa/lane/FAMILY.def, for one CPU level. The build compiles
 * this once for each (cmake/LanewiseLevels.cmake), with LW_FAMILY the name of that file. */
#include "run/interp/level/lanes.h"

#define LANE1          LOOP1
#define LANE2          LOOP2
#define LANE3          LOOP3
#define LANE4          LOOP4
#define HOW2           LOOP2_RRI
#define HOW3           LOOP3_RRI
#define HOW4           LOOP4_RRI
#define ROUNDED3       LW_ROUNDED_STEPS3
#define ROUNDED4       LW_ROUNDED_STEPS4
#define RARE4          LOOP4_RARE
#define COMPARE2       LW_COMPARE_STEPS
#define SHIFT2         LW_SHIFT_STEPS
#define COUNT2         LW_COUNT_STEPS
#define FUNNEL3        LW_FUNNEL_STEPS
#define HALF2          LW_HALF_STEPS2
#define HALF3          LW_HALF_STEPS3
#define RARE3          LOOP3_RARE
#define ROTATE2        LW_ROTATE_STEPS2
#define ROTATE3        LW_ROTATE_STEPS3
#define LW_LANE_FAMILY LW_FAMILY
#include "lane.def"
