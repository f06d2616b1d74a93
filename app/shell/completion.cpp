// Completions: one script a shell, with every flag of every command written out, so that none runs tamis at a key
// press.
#include "app/shell/outline.h"
#include "tamis/base/error.h"

namespace tamis::app {

namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

// In single quotes, as every shell here has them; fish alone also gives meaning to a backslash.
std::string in_single_quotes(const std::string& text, bool backslashes = false) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      out += "'\\''";
    } else {
      out += backslashes && letter == '\\' ? std::string("\\\\") : std::string(1, letter);
    }
  }
  return out + "'";
}

std::vector<std::string> names_of(const std::vector<CommandOutline>& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  return names;
}

// --- bash -------------------------------------------------------------------------------------------------------

std::string bash_words(const std::vector<std::string>& words) {
  return "COMPREPLY=($(compgen -W " + in_single_quotes(joined(words, " ")) + " -- \"$word\"))";
}

// Of a list the last word, behind those that are there.
std::string bash_list(const std::vector<std::string>& words) {
  return "COMPREPLY=($(compgen -P \"${word%\"${word##*,}\"}\" -W " + in_single_quotes(joined(words, " ")) +
         " -- \"${word##*,}\"))";
}

// What follows a flag, or what an argument is; bash itself completes files where nothing is offered.
std::string bash_value(const FlagOutline& flag) {
  switch (flag.completes) {
    case Completes::words: return flag.list ? bash_list(flag.words) : bash_words(flag.words);
    case Completes::folders: return "compopt -o dirnames +o default +o bashdefault 2>/dev/null";
    case Completes::files: return ":";
    case Completes::file_after_at:
    case Completes::nothing: break;
  }
  return "compopt +o default +o bashdefault 2>/dev/null";
}

std::string bash_command(const CommandOutline& command, const std::vector<CommandOutline>& commands) {
  std::vector<std::string> flags;
  std::string values;
  for (const auto& flag : flags_once(command)) {
    flags.insert(flags.end(), flag.names.begin(), flag.names.end());
    if (flag.value.empty()) continue;
    const std::string value = bash_value(flag) + "; return";
    values += concat("        ", joined(flag.names, "|"), ") ",
                     flag.optional ? "if [[ $word != -* ]]; then " + value + "; fi" : value, " ;;\n");
  }
  std::string out = concat("    ", command.name.empty() ? "''" : command.name, ")\n");
  if (!values.empty()) out += "      case $before in\n" + values + "      esac\n";
  out += "      if [[ $word == -?* ]]; then " + bash_words(flags) + "\n";
  if (command.name.empty()) {
    out += "      else " + bash_words(names_of(commands)) + "\n";
  } else if (!command.arguments.empty()) {
    out += "      else " + bash_value(command.arguments.back()) + "\n";
  }
  return out + "      fi ;;\n";
}

// --- zsh --------------------------------------------------------------------------------------------------------

std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') out += '\\';
    out += letter;
  }
  return out;
}

std::string zsh_action(const FlagOutline& flag) {
  switch (flag.completes) {
    case Completes::words: {
      const std::string words = joined(flag.words, " ");
      return flag.list ? "_values -s , " + zsh_text(flag.value) + " " + words : "(" + words + ")";
    }
    case Completes::folders: return "_files -/";
    case Completes::files: return "_files";
    case Completes::file_after_at: return "_tamis_file_after_at";
    case Completes::nothing: break;
  }
  return " ";
}

std::string zsh_flag(const FlagOutline& flag) {
  std::string names;
  for (const auto& name : flag.names) {
    const bool is_long = name.starts_with("--");
    names += (names.empty() ? "" : ",") + name + (flag.value.empty() ? "" : is_long ? "=" : "+");
  }
  std::string text = "[" + zsh_text(short_help(flag)) + "]";
  if (!flag.value.empty()) text += (flag.optional ? "::" : ":") + zsh_text(flag.value) + ":" + zsh_action(flag);
  const std::string others = flag.repeats ? "*" : "(" + joined(flag.names, " ") + ")";
  const std::string braces = flag.names.size() > 1 ? "{" + names + "}" : names;
  return in_single_quotes(others) + braces + in_single_quotes(text);
}

std::string zsh_command(const CommandOutline& command) {
  std::string out = "        " + command.name + ")\n          _arguments -s";
  for (const auto& flag : flags_once(command)) out += " \\\n            " + zsh_flag(flag);
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    const FlagOutline& argument = command.arguments[i];
    out += concat(" \\\n            ", in_single_quotes(concat(i + 1, ":", argument.value, ":", zsh_action(argument))));
  }
  return out + " ;;\n";
}

// --- fish -------------------------------------------------------------------------------------------------------

std::string fish_value(const FlagOutline& flag) {
  switch (flag.completes) {
    case Completes::words:
      if (flag.list) {
        return " -x -a " +
               in_single_quotes("(__fish_complete_list , 'string split , " + joined(flag.words, ",") + "')", true);
      }
      return (flag.optional ? " -f -a " : " -x -a ") + in_single_quotes(joined(flag.words, " "), true);
    case Completes::folders: return " -x -a '(__fish_complete_directories)'";
    case Completes::files: return " -r -F";
    case Completes::file_after_at: return " -x -a '(__tamis_file_after_at)'";
    case Completes::nothing: break;
  }
  return flag.value.empty() ? "" : " -x";
}

std::string fish_command(const CommandOutline& command) {
  const std::string when = "complete -c tamis -n '__tamis_is " + (command.name.empty() ? "none" : command.name) + "'";
  std::string out;
  for (const auto& flag : flags_once(command)) {
    std::string names;
    for (const auto& name : flag.names) {
      names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    out += when + names + fish_value(flag) + " -d " + in_single_quotes(short_help(flag), true) + "\n";
    if (flag.optional) {  // fish itself takes it only behind =
      out += concat("complete -c tamis -n '__tamis_is ", command.name, "; and __tamis_after ", joined(flag.names, " "),
                    "' -a ", in_single_quotes(joined(flag.words, " ")), "\n");
    }
  }
  for (const auto& argument : command.arguments) {
    out += when + (argument.completes == Completes::files ? " -F" : fish_value(argument)) + "\n";
  }
  return out;
}

}  // namespace

std::string bash_completion(const std::vector<CommandOutline>& commands) {
  std::string out = R"(# Completion of tamis for bash. To use it now: source <(tamis completion bash)
# For every new shell: tamis completion bash >~/.local/share/bash-completion/completions/tamis
_tamis() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=''
  if [[ $word == = ]]; then  # bash takes --flag=value as three words
    word=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  if [[ $word == @* ]]; then  # a list in a file
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -P @ -f -- "${word:1}"))
    return
  elif [[ $before == @ ]]; then  # the same where bash takes @ as a word
    return
  fi
  ((COMP_CWORD == 1)) || command=${COMP_WORDS[1]}
  case $command in
    -*) compopt +o default +o bashdefault 2>/dev/null ;;  # the command comes first
)";
  for (const auto& command : commands) out += bash_command(command, commands);
  return out + "  esac\n}\ncomplete -o bashdefault -o default -F _tamis tamis\n";
}

std::string zsh_completion(const std::vector<CommandOutline>& commands) {
  std::string out = R"(#compdef tamis
# Completion of tamis for zsh. To use it now: source <(tamis completion zsh)
# For every new shell: tamis completion zsh >FOLDER/_tamis, where FOLDER is one of $fpath.
_tamis_file_after_at() {
  compset -P '@' && _files
}
_tamis() {
  (( CURRENT > 2 )) && [[ $words[2] == -* ]] && return 1  # the command comes first
  local -a commands=(
)";
  for (const auto& command : commands) {
    if (!command.name.empty()) {
      out += "    " + in_single_quotes(command.name + ":" + zsh_text(command.summary)) + "\n";
    }
  }
  out += "  )\n  local context state state_descr line\n  typeset -A opt_args\n  _arguments -C";
  for (const auto& flag : flags_once(commands.front())) out += " \\\n    " + zsh_flag(flag);
  out += R"( \
    '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe -t commands command commands ;;
    argument)
      case $words[1] in
)";
  for (const auto& command : commands) {
    if (!command.name.empty()) out += zsh_command(command);
  }
  return out + R"(      esac ;;
  esac
}
if [[ $funcstack[1] == _tamis ]]; then _tamis "$@"; else compdef _tamis tamis; fi
)";
}

std::string fish_completion(const std::vector<CommandOutline>& commands) {
  std::string out = R"(# Completion of tamis for fish. To use it now: tamis completion fish | source
# For every new shell: tamis completion fish >~/.config/fish/completions/tamis.fish
function __tamis_is --description 'Whether the command line has this command of tamis'
    set -l words (commandline -opc) none
    test $words[2] = $argv[1]
end
function __tamis_after --description 'Whether the last word is one of these'
    contains -- (commandline -opc)[-1] $argv
end
function __tamis_file_after_at --description 'A file with a list'
    set -l word (commandline -ct | string replace -r '^--[a-z]+=' '')
    string match -q -- '@*' $word; and printf '@%s\n' (__fish_complete_path (string sub -s 2 -- $word))
end
complete -c tamis -f
)";
  for (const auto& command : commands) {
    if (command.name.empty()) continue;
    out += concat("complete -c tamis -n '__tamis_is none' -a ", command.name, " -d ",
                  in_single_quotes(command.summary, true), "\n");
  }
  for (const auto& command : commands) out += fish_command(command);
  return out;
}

}  // namespace tamis::app
