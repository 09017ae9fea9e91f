// Includes all of ORC: the participant (orc::broker) with the four calls register_topic, request_topic, send_msg and
// recv_msg, and the handles and options behind them. Source: ORC paper, section III.A and Listing 1.
#pragma once

#include "orc/broker.h"
#include "orc/log.h"
#include "orc/message.h"
#include "orc/options.h"
#include "orc/publisher.h"
#include "orc/result.h"
#include "orc/subscriber.h"
#include "orc/version.h"
