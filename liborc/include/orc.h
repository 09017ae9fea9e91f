// ORC in one include: a participant (orc::broker) with the four calls register_topic, request_topic, send_msg, recv_msg
// (ORC paper, section III.A and Listing 1), and the handles and options behind them.
#pragma once

#include "orc/broker.h"
#include "orc/log.h"
#include "orc/message.h"
#include "orc/options.h"
#include "orc/publisher.h"
#include "orc/result.h"
#include "orc/subscriber.h"
#include "orc/version.h"
