/* SPDX-License-Identifier: MIT */
/* The user's own settings of nix, which are also where people keep the tokens that nix fetches with. */
#pragma once

/* The settings without what names credentials or leads to other files; owned by the caller. */
char *nix_settings_public(const char *settings);
