// The whole library: include this and link tamis::tamis.
//
//   tamis::Context context;                                  // threads, seed, callbacks
//   tamis::Table table = tamis::read_table("x.csv", {}, context);
//   tamis::UfcmOptions options;
//   options.clusters = 10;
//   tamis::Selection best = tamis::ufcm(table.source, options, context);
#pragma once

#include "tamis/base/context.h"
#include "tamis/base/error.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/source.h"
#include "tamis/data/table.h"
#include "tamis/data/weights.h"
#include "tamis/eval/evaluate.h"
#include "tamis/eval/metrics.h"
#include "tamis/eval/redundancy.h"
#include "tamis/eval/stability.h"
#include "tamis/graph/given.h"
#include "tamis/graph/graph.h"
#include "tamis/graph/laplacian.h"
#include "tamis/run/compare.h"
#include "tamis/run/select.h"
#include "tamis/select/css/css.h"
#include "tamis/select/methods/fspca.h"
#include "tamis/select/methods/lapscore.h"
#include "tamis/select/methods/maxvar.h"
#include "tamis/select/methods/mcfs.h"
#include "tamis/select/methods/ndfs.h"
#include "tamis/select/methods/sparsekm.h"
#include "tamis/select/methods/spcafs.h"
#include "tamis/select/methods/spec.h"
#include "tamis/select/methods/udfs.h"
#include "tamis/select/registry.h"
#include "tamis/select/rufs/rufs.h"
#include "tamis/select/selection.h"
#include "tamis/select/ufcm/ufcm.h"
