# Read by the shell of a hook: runs memdir's answer to $memdir_event with a Python that fits.
# Whatever is missing, the session goes on: no answer, no word, exit code 0. Never 2: that blocks.
# Only builtins on the way to a Python that is known: a process more would cost a millisecond.

memdir_code=$CLAUDE_PLUGIN_ROOT/memdir # in a checkout, and in the client's copy of one
[ -r "$memdir_code/hot/start.py" ] || memdir_code=${CLAUDE_PLUGIN_ROOT%/*} # in a package
memdir_code=$memdir_code/hot/start.py
[ -r "$memdir_code" ] || exit 0

# Before a tool only records and guarded commands matter: where there are none, nothing is started.
memdir_guards=${MEMDIR_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/memdir}/guards
if [ "$memdir_event" = pre-tool ] && ! [ -d "$memdir_guards" ]; then
	for memdir_place in "$CLAUDE_PROJECT_DIR" "$PWD"; do
		while [ "${memdir_place#*/}" != "$memdir_place" ]; do
			[ -d "$memdir_place/.claude/memory" ] && break 2
			memdir_place=${memdir_place%/*}
		done
	done
	[ -n "$memdir_place" ] || exit 0
fi

[ -r "$CLAUDE_PLUGIN_ROOT/hooks/known.sh" ] || exit 0
. "$CLAUDE_PLUGIN_ROOT/hooks/known.sh"

# Hooks of ours in the settings do the same: then these are silent. Looked at once in each session.
if [ "$memdir_event" = session-start ]; then
	memdir_settings=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json
	if grep -qs memdir/hot/start.py "$memdir_settings"; then
		memdir_note silent yes
	elif [ -e "$memdir_folder/silent" ]; then
		rm -f "$memdir_folder/silent"
	fi
fi
[ -O "$memdir_folder/silent" ] && exit 0

if memdir_read_known; then
	[ "$memdir_python" = none ] || exec "$memdir_python" -I -S "$memdir_code" "$memdir_event"
	[ "$memdir_event" = session-start ] || exit 0 # looked for once in each session
fi

# Noted before the search: where one hangs and the client ends us, the next events do not try again.
memdir_note python none
memdir_find_python || exit 0
exec "$memdir_python" -I -S "$memdir_code" "$memdir_event"
