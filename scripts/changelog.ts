/** Reads and changes CHANGELOG.md, which has the format of keepachangelog.com. */
const UNRELEASED = '## Unreleased';

/** Returns the text of the section Unreleased without its heading. Undefined if there is no such section. */
export function findUnreleased(changelog: string): string | undefined {
  return findSection(changelog, UNRELEASED);
}

/** Returns the text under "Breaking" of the section Unreleased. Empty if it has none. */
export function findBreaking(changelog: string): string {
  return findSection(findUnreleased(changelog) ?? '', '### Breaking') ?? '';
}

/** Gives the section Unreleased the version and the date, and adds an empty section Unreleased above. */
export function stampVersion(changelog: string, version: string, date: string): string {
  return changelog.replace(
    new RegExp(`^${UNRELEASED}$`, 'm'),
    () => `${UNRELEASED}\n\n## ${version} - ${date}`,
  );
}

function findSection(text: string, heading: string): string | undefined {
  const lines = text.split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) return undefined;
  const level = heading.indexOf(' ');
  const linesAfter = lines.slice(start + 1);
  const end = linesAfter.findIndex((line) => new RegExp(`^#{1,${level}} `).test(line));
  return linesAfter
    .slice(0, end < 0 ? undefined : end)
    .join('\n')
    .trim();
}
