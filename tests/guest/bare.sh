# bare - what init tried when nothing was mounted and nothing else was there.
check "profile" test "$(cat /bare/profile.status)" = 0
check "profile shows names of both halves" sh -c \
	'grep -q ";main;top;mid;leaf" /bare/profile && grep -q "_\[k\]" \
	/bare/profile'
check "nothing lost" grep -q ' 0 lost$' /bare/profile.err
check "doctor" grep -q '^profile *yes .*/proc not mounted' /bare/doctor
