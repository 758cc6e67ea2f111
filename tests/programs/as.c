/* as - run a command as another user, or without one capability.
 *
 *   as UID COMMAND...	as that user, without capabilities
 *   as -CAP COMMAND...	as it is, for good without capability number CAP
 */
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long id;

	if (argc < 3)
		return 2;
	id = strtol(argv[1], NULL, 10);
	if (argv[1][0] == '-' ? prctl(PR_CAPBSET_DROP, -id, 0, 0, 0) :
	    setgroups(0, NULL) || setgid((gid_t)id) || setuid((uid_t)id)) {
		perror("as");
		return 126;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
