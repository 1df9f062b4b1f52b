/**
 * Statements that rightly ask all projects: what is due, and the few look-ups by something that names no project. All
 * others say whose rows they mean (docs/decisions/041-rows-and-statements-know-their-project.md); a test reads every
 * statement and takes this mark for an answer.
 */

/** The statement with the reason why it asks all projects. What it changes besides, it names with its project. */
export function acrossProjects(reason: string, text: string): string {
  return `${allProjects(reason)} ${text.trim()}`;
}

/** The mark alone, for statements that are written in parts. */
export function allProjects(reason: string): string {
  return `/* all projects: ${reason} */`;
}
