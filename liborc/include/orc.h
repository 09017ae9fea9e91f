// Includes what programs with samples of bytes need: the participant (orc::participant) with the four calls
// register_topic, request_topic, send_msg and recv_msg, the handles and options behind them, callbacks, and the
// directory of topics and participants. Source: ORC paper, section III.A and Listing 1.
//
// Not included: orc/typed.h (typed topics), orc/calls.h (services), orc/parameters.h, orc/history.h, orc/schema.h.
#pragma once

#include "orc/broker.h"
#include "orc/clock.h"
#include "orc/directory.h"
#include "orc/executor.h"
#include "orc/log.h"
#include "orc/message.h"
#include "orc/options.h"
#include "orc/participant.h"
#include "orc/publisher.h"
#include "orc/realtime.h"
#include "orc/result.h"
#include "orc/subscriber.h"
#include "orc/timeout.h"
#include "orc/version.h"
