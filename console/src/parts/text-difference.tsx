/** Shows the lines that differ between two texts, with a few unchanged lines around them. */
import { diffLines } from 'diff';

export function TextDifference({ from, to }: { from: string; to: string }) {
  const parts = diffLines(from, to);
  const count = (change: 'added' | 'removed') =>
    parts.filter((part) => part[change]).reduce((sum, part) => sum + (part.count ?? 0), 0);
  return (
    <>
      <p className="quiet">
        Lines added: {count('added')}. Removed: {count('removed')}.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <section className="diff" tabIndex={0} aria-label="Difference">
        {parts.map(({ value, added, removed }, index) => (
          <pre key={index} className={added ? 'added' : removed ? 'removed' : ''}>
            {added || removed
              ? markLines(value, added ? '+ ' : '- ')
              : markLines(shorten(value), '  ')}
          </pre>
        ))}
      </section>
    </>
  );
}

/** Unchanged lines are shown only near changed ones. */
const CONTEXT_LINES = 4;

function shorten(text: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const hiddenLines = lines.length - 2 * CONTEXT_LINES;
  if (hiddenLines <= 1) return text;
  const [start, end] = [lines.slice(0, CONTEXT_LINES), lines.slice(-CONTEXT_LINES)];
  return [...start, `… ${hiddenLines} unchanged lines`, ...end].join('\n');
}

/** The sign has the same meaning as the color, for people who do not distinguish the colors. */
function markLines(text: string, mark: string): string {
  return text.replace(/\n$/, '').replace(/^/gm, mark);
}
