/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fd.h"
#include "engines/probe.h"
#include "engines/probe_reason.h"
#include "kernel/userns.h"

static int enter_network(struct err *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	uid_t inside = uid ? uid : 1000;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 ||
		userns_map(inside, uid, uid ? gid : inside, gid) < 0) {
		err_set(e, errno, "cannot make a network namespace");
		return reason_user_namespace(e);
	}
	return 0;
}

static int try_network(const void *data, struct err *e)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	(void)data;
	if (enter_network(e) < 0)
		return -1;
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return err_set(e, errno, "cannot bring up a loopback device");
	return 0;
}

int probe_network_namespace(struct err *e)
{
	return probe_child(try_network, NULL, e);
}

/* --- nftables: one batch that makes a table and a chain of address translation --------------- */

/* Netlink: everything is aligned to 4; lengths do not count the padding behind. */
struct batch {
	uint8_t data[1024];
	size_t length;
	size_t message; /* where the current one begins */
};

static void *batch_put(struct batch *batch, const void *data, size_t length)
{
	uint8_t *place = batch->data + batch->length;
	if (batch->length + NLMSG_ALIGN(length) > sizeof batch->data)
		return NULL; /* cannot happen: the sizes below are constant */
	memset(place, 0, NLMSG_ALIGN(length));
	memcpy(place, data, length);
	batch->length += NLMSG_ALIGN(length);
	return place;
}

static void message_end(struct batch *batch)
{
	uint32_t length = (uint32_t)(batch->length - batch->message);
	memcpy(batch->data + batch->message, &length, sizeof length);
}

static void message_begin(
	struct batch *batch, unsigned type, unsigned flags, uint8_t family, uint16_t resource)
{
	const struct nlmsghdr head = { .nlmsg_type = (uint16_t)type,
		.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
		.nlmsg_seq = type };
	const struct nfgenmsg generic = {
		.nfgen_family = family, .version = NFNETLINK_V0, .res_id = htons(resource)
	};
	batch->message = batch->length;
	batch_put(batch, &head, sizeof head);
	batch_put(batch, &generic, sizeof generic);
}

static size_t attribute_begin(struct batch *batch, unsigned type)
{
	const struct nlattr head = { .nla_type = (uint16_t)type };
	size_t at = batch->length;
	batch_put(batch, &head, sizeof head);
	return at;
}

static void attribute_end(struct batch *batch, size_t at, size_t padding)
{
	uint16_t length = (uint16_t)(batch->length - at - padding);
	memcpy(batch->data + at, &length, sizeof length);
}

static void put_text(struct batch *batch, unsigned type, const char *text)
{
	size_t length = strlen(text) + 1;
	size_t at = attribute_begin(batch, type);
	batch_put(batch, text, length);
	attribute_end(batch, at, NLMSG_ALIGN(length) - length);
}

static void put_number(struct batch *batch, unsigned type, int value)
{
	const uint32_t number = htonl((uint32_t)value);
	size_t at = attribute_begin(batch, type);
	batch_put(batch, &number, sizeof number);
	attribute_end(batch, at, 0);
}

enum {
	NEW_TABLE = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWTABLE,
	NEW_CHAIN = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN,
	PRIORITY_NAT = -100,
};

static void batch_fill(struct batch *batch)
{
	message_begin(batch, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
	message_end(batch);
	message_begin(batch, NEW_TABLE, NLM_F_CREATE | NLM_F_ACK, NFPROTO_INET, 0);
	put_text(batch, NFTA_TABLE_NAME, "hutch");
	message_end(batch);
	message_begin(batch, NEW_CHAIN, NLM_F_CREATE | NLM_F_ACK, NFPROTO_INET, 0);
	put_text(batch, NFTA_CHAIN_TABLE, "hutch");
	put_text(batch, NFTA_CHAIN_NAME, "out");
	put_text(batch, NFTA_CHAIN_TYPE, "nat");
	size_t hook = attribute_begin(batch, NFTA_CHAIN_HOOK | NLA_F_NESTED);
	put_number(batch, NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
	put_number(batch, NFTA_HOOK_PRIORITY, PRIORITY_NAT);
	attribute_end(batch, hook, 0);
	message_end(batch);
	message_begin(batch, NFNL_MSG_BATCH_END, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
	message_end(batch);
}

/* One answer for each of the two requests. errno of the first that failed, or 0. */
static int answers_read(int fd)
{
	union {
		struct nlmsghdr head;
		uint8_t data[8192];
	} buffer;
	for (int answers = 0; answers < 2;) {
		ssize_t got = recv(fd, &buffer, sizeof buffer, 0);
		if (got < 0)
			return errno;
		int left = (int)got;
		for (struct nlmsghdr *head = &buffer.head;
			left > 0 && NLMSG_OK(head, (unsigned)left); head = NLMSG_NEXT(head, left)) {
			const struct nlmsgerr *answer = NLMSG_DATA(head);
			if (head->nlmsg_type != NLMSG_ERROR)
				continue;
			if (answer->error)
				return -answer->error;
			answers++;
		}
	}
	return 0;
}

static int try_nftables(const void *data, struct err *e)
{
	const struct timeval wait = { .tv_sec = 2 };
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct batch batch = { 0 };
	(void)data;
	if (enter_network(e) < 0)
		return -1;
	AUTO_CLOSE int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) < 0)
		return err_set(e, errno, "there is no netlink socket for nftables");
	batch_fill(&batch);
	if (sendto(fd, batch.data, batch.length, 0, (const struct sockaddr *)&kernel,
		    sizeof kernel) < 0)
		return err_set(e, errno, "cannot send to nftables");
	int number = answers_read(fd);
	if (number == 0)
		return 0;
	err_set(e, number, "nftables refuses a chain for address translation");
	return err_hint(e, "the kernel's modules may only have to be loaded:\n"
			   "sudo modprobe -a nf_tables nft_chain_nat nft_redir");
}

int probe_nftables(struct err *e)
{
	return probe_child(try_nftables, NULL, e);
}
