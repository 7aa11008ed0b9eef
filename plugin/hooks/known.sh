# Read by launch.sh and bin/memdir: the Python that was found before, where we can rely on the note.
#
# The note lies beside the code that it is to run, so whoever can put one there could change that
# code just as well. No variable says where: a repository's settings may name HOME and the others,
# and then everything below it is the repository's, though its files belong to the user.

memdir_folder=${memdir_code%/*}/__pycache__/launcher

# True where these are files or folders that nobody but their owner may write. `find` costs a
# millisecond; no builtin knows modes. Not from the PATH, which a repository may name as well.
memdir_is_private() {
	[ -z "$(command -p find -L "$@" -prune \( -perm -020 -o -perm -002 $memdir_owner \) 2>&1)" ]
}

# Sets $memdir_python to a whole path, or to `none` where the last search found nothing.
memdir_read_known() {
	memdir_python='' memdir_owner=''
	for memdir_place in "$memdir_folder" "$memdir_folder/python"; do
		[ -O "$memdir_place" ] && [ ! -L "$memdir_place" ] || return 1
	done
	[ -f "$memdir_folder/python" ] && IFS= read -r memdir_python <"$memdir_folder/python" || return 1
	case $memdir_python in
	none) memdir_is_private "$memdir_folder" "$memdir_folder/python" && return 0 ;;
	/*)
		# The interpreter is ours or root's; the note is no program, so it is not meant by this.
		[ -O "$memdir_python" ] || memdir_owner='-o -type f -perm -100 ! -user 0'
		[ -f "$memdir_python" ] && [ -x "$memdir_python" ] &&
			memdir_is_private "$memdir_folder" "$memdir_folder/python" "$memdir_python" && return 0
		;;
	esac
	memdir_python=
	return 1
}

# Leaves a note behind, or nothing where others could change it.
memdir_note() {
	memdir_owner=
	{
		mkdir -p -m 700 "$memdir_folder" && [ -O "$memdir_folder" ] && [ ! -L "$memdir_folder" ] &&
			memdir_is_private "$memdir_folder" &&
			(umask 077 && printf '%s\n' "$2" >"$memdir_folder/$1.$$") &&
			mv -f "$memdir_folder/$1.$$" "$memdir_folder/$1"
	} 2>/dev/null
}

# Sets $memdir_python to the one that runs, not to a stand-in such as pyenv's that looks for it each
# time, nor to a venv's; and leaves a note of it.
memdir_find_python() {
	memdir_check='import sys, _sqlite3
sys.version_info >= (3, 11) or sys.exit(1)
print(sys._base_executable)'
	memdir_line='
'
	for memdir_name in python3.14 python3.13 python3.12 python3.11 python3; do
		memdir_python=$(command -v "$memdir_name") || continue
		case $memdir_python in /*) ;; *) continue ;; esac # `.` on the PATH would be the repository
		memdir_python=$("$memdir_python" -I -S -c "$memdir_check" </dev/null 2>/dev/null) || continue
		case $memdir_python in *"$memdir_line"*) continue ;; /*) ;; *) continue ;; esac
		[ -x "$memdir_python" ] || continue
		memdir_note python "$memdir_python"
		return 0
	done
	return 1
}
