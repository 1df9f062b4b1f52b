/** Answers `--help`, and refuses unknown arguments, before a command loads or changes anything. */

const EXIT_INVALID = 2;

/** True if the arguments ask for help. */
export function wantsHelp(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h');
}

/** If the arguments ask for help, prints the usage and ends the process. */
export function answerHelp(usage: string): void {
  if (!wantsHelp(process.argv.slice(2))) return;
  console.log(usage);
  process.exit(0);
}

/** Like `answerHelp`, for a command without arguments. Prints the usage and exits with 2 if there are any. */
export function refuseArguments(usage: string): void {
  answerHelp(usage);
  const [argument] = process.argv.slice(2);
  if (argument === undefined) return;
  console.error(`${argument}: not an argument\n${usage}`);
  process.exit(EXIT_INVALID);
}
