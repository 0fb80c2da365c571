/* SPDX-License-Identifier: MIT */
/*
 * Whom the nix daemon trusts. It carries out builds without a sandbox, and runs programs of their choice,
 * for root and for whoever is in `trusted-users` of its settings: who may talk to it as one of these is
 * root on this machine.
 */
#pragma once

#include <stdbool.h>

#include "policy/host.h"

/* Does the daemon trust this user, by /etc/nix/nix.conf and what it includes? */
bool nix_trusts(const struct host *host);

/* The same by the content of a settings file, for a user and the names of the groups that he is in (ends
 * with NULL). Included files are not looked into. */
bool nix_settings_trust(const char *settings, const char *user, const char *const *groups);
