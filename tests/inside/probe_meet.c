/* SPDX-License-Identifier: MIT */
/* Meeting others: System V and POSIX IPC, keys, sockets. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe.h"

#define TRY(call, ...)                                                                             \
	do {                                                                                       \
		if ((call) >= 0)                                                                   \
			escaped(__VA_ARGS__);                                                      \
	} while (0)

/* ---- IPC ---- */

static void key_find(const char *name)
{
	static const int rings[] = { KEY_SPEC_THREAD_KEYRING, KEY_SPEC_PROCESS_KEYRING,
		KEY_SPEC_SESSION_KEYRING, KEY_SPEC_USER_KEYRING, KEY_SPEC_USER_SESSION_KEYRING };
	for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++)
		TRY(syscall(SYS_keyctl, KEYCTL_SEARCH, rings[i], "user", name, 0),
			"a key in keyring %d", rings[i]);
	TRY(syscall(SYS_request_key, "user", name, NULL, 0), "request_key");
}

/* Every identifier there is, whatever its key. */
static void tables_look(const char *name)
{
	char path[64], line[256];
	unsigned lines = 0;
	snprintf(path, sizeof path, "/proc/sysvipc/%s", name);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		lines++;
	if (lines > 1)
		escaped("%s lists %u", path, lines - 1);
	if (file)
		fclose(file);
}

void verb_ipc(char **arguments)
{
	key_t key = atoi(arguments[0]);
	char path[128];
	TRY(shmget(key, 0, 0), "shared memory");
	TRY(semget(key, 0, 0), "semaphores");
	TRY(msgget(key, 0), "a message queue");
	for (int id = 0; id < 1000; id++)
		if (shmat(id, NULL, SHM_RDONLY) != (void *)-1)
			escaped("shared memory by its id");
	tables_look("shm");
	tables_look("sem");
	tables_look("msg");
	snprintf(path, sizeof path, "/%s", arguments[1]);
	TRY(mq_open(path, O_RDONLY), "a POSIX message queue");
	static const char *const places[] = { "/dev/shm", "/tmp", "/var/tmp", "/run", "/dev/mqueue",
		"/run/lock" };
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", places[i], arguments[1]);
		TRY(access(path, F_OK), "%s", path);
	}
	key_find(arguments[1]);
}

static void keys_remove(const char *name)
{
	static const int rings[] = { KEY_SPEC_SESSION_KEYRING, KEY_SPEC_USER_KEYRING };
	for (size_t i = 0; i < 2; i++)
		syscall(SYS_keyctl, KEYCTL_UNLINK,
			syscall(SYS_keyctl, KEYCTL_SEARCH, rings[i], "user", name, 0), rings[i]);
}

void verb_ipc_make(char **arguments)
{
	static const char *const places[] = { "/dev/shm", "/tmp", "/var/tmp" };
	key_t key = atoi(arguments[0]);
	char path[128];
	int memory = shmget(key, 4096, IPC_CREAT | 0666);
	int semaphores = semget(key, 1, IPC_CREAT | 0666);
	int queue = msgget(key, IPC_CREAT | 0666);
	snprintf(path, sizeof path, "/%s", arguments[1]);
	mq_open(path, O_CREAT | O_RDWR, 0666, NULL);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", places[i], arguments[1]);
		open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
	}
	syscall(SYS_add_key, "user", arguments[1], "x", 1ul, KEY_SPEC_SESSION_KEYRING);
	syscall(SYS_add_key, "user", arguments[1], "x", 1ul, KEY_SPEC_USER_KEYRING);
	wait_for(arguments[2]);
	shmctl(memory, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	msgctl(queue, IPC_RMID, NULL);
	snprintf(path, sizeof path, "/%s", arguments[1]);
	mq_unlink(path);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", places[i], arguments[1]);
		unlink(path);
	}
	keys_remove(arguments[1]);
}

/* ---- Abstract sockets ---- */

static socklen_t abstract_name(const char *name, const char *kind, struct sockaddr_un *ret_address)
{
	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	int length = snprintf(
		ret_address->sun_path + 1, sizeof ret_address->sun_path - 1, "%s-%s", name, kind);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

void verb_abstract(char **arguments)
{
	static const struct {
		const char *name;
		int type;
	} kinds[] = { { "stream", SOCK_STREAM }, { "dgram", SOCK_DGRAM },
		{ "seq", SOCK_SEQPACKET } };
	struct sockaddr_un address;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		socklen_t length = abstract_name(arguments[0], kinds[i].name, &address);
		int fd = socket(AF_UNIX, kinds[i].type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (kinds[i].type == SOCK_DGRAM)
			TRY(sendto(fd, "x", 1, 0, (struct sockaddr *)&address, length), "sendto");
		TRY(connect(fd, (struct sockaddr *)&address, length), "connect %s", kinds[i].name);
		close(fd);
	}
}

/* ---- Network ---- */

static void connect_try(const struct sockaddr *address, socklen_t length, const char *what)
{
	int error = 0;
	socklen_t size = sizeof error;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	int result = connect(fd, address, length);
	if (result < 0 && errno == EINPROGRESS) {
		struct pollfd ready = { .fd = fd, .events = POLLOUT };
		if (poll(&ready, 1, 1500) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
		else
			error = ETIMEDOUT; /* a packet went out: there is a way */
		result = error && error != ETIMEDOUT ? -1 : 0;
	}
	if (result == 0)
		escaped("connected to %s", what);
	close(fd);
}

static void address_try(const char *text, int port, int udp)
{
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	bool is_four = inet_pton(AF_INET, text, &four.sin_addr) == 1;
	if (!is_four && inet_pton(AF_INET6, text, &six.sin6_addr) != 1)
		return;
	four.sin_port = six.sin6_port = htons((unsigned short)port);
	const struct sockaddr *address = is_four ? (void *)&four : (void *)&six;
	socklen_t length = is_four ? sizeof four : sizeof six;
	connect_try(address, length, text);
	four.sin_port = six.sin6_port = htons((unsigned short)udp);
	int fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* Loopback always takes it; then the harness, which listens, tells. */
	if (sendto(fd, "datagram", 8, 0, address, length) == 8 && strncmp(text, "127.", 4) != 0 &&
		strcmp(text, "::1") != 0)
		escaped("a datagram to %s was taken", text);
	close(fd);
}

static void machine_try(void)
{
	static const unsigned numbers[] = { VMADDR_CID_HOST, VMADDR_CID_LOCAL,
		VMADDR_CID_HYPERVISOR };
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		struct sockaddr_vm address = {
			.svm_family = AF_VSOCK, .svm_cid = numbers[i], .svm_port = 4711
		};
		int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
			escaped("reached the virtual machine's host, %u", numbers[i]);
		close(fd);
	}
}

void verb_families(char **arguments)
{
	static const int families[] = { AF_VSOCK, AF_PACKET, AF_ALG, AF_BLUETOOTH, AF_CAN, AF_TIPC,
		AF_RDS, AF_XDP, AF_NFC, AF_KEY, 42 /* AF_QIPCRTR */, AF_SMC };
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET };
	(void)arguments;
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
			TRY(socket(families[i], types[k] | SOCK_CLOEXEC, 0), "family %d, type %d",
				families[i], types[k]);
}

void verb_network(char **arguments)
{
	int port = atoi(*arguments++), udp = atoi(*arguments++);
	for (; *arguments; arguments++)
		address_try(*arguments, port, udp);
	TRY(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP), "a raw socket");
	TRY(socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6), "a raw IPv6 socket");
	TRY(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), "a packet socket");
	struct if_nameindex *devices = if_nameindex();
	for (size_t i = 0; devices && devices[i].if_name; i++)
		if (strcmp(devices[i].if_name, "lo") != 0 &&
			strcmp(devices[i].if_name, "sit0") != 0 &&
			strcmp(devices[i].if_name, "tunl0") != 0 &&
			strcmp(devices[i].if_name, "ip6tnl0") != 0)
			escaped("there is the device %s", devices[i].if_name);
	machine_try();
}
