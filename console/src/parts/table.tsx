/** Tables that scroll within a narrow screen, and facts as pairs. */
import type { ReactNode } from 'react';

interface TableProps {
  /** The table's content, for screen readers. */
  label: string;
  columns: readonly string[];
  children: ReactNode;
}

export function Table({ label, columns, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section className="scrolls" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** Facts about one object. A null fact is omitted. */
export function Facts({ of }: { of: Record<string, ReactNode> }) {
  return (
    <dl className="facts">
      {Object.entries(of)
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Json({ of, label }: { of: unknown; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section className="json" tabIndex={0} aria-label={label}>
      <pre>{JSON.stringify(of, null, 2)}</pre>
    </section>
  );
}

interface BarProps {
  label: string;
  done: number;
  /** Unknown until the provider reports it. */
  total: number | null | undefined;
  /** The unit that is counted. */
  what?: string;
}

export function Progress({ label, done, total, what = 'records' }: BarProps) {
  const known = total != null && total > 0;
  const words = known
    ? `${done.toLocaleString('en')} of ${what === 'records' ? 'about ' : ''}${total.toLocaleString('en')} ${what}`
    : `${done.toLocaleString('en')} ${what}`;
  return (
    <div className="progress">
      <progress aria-label={label} {...(known && { max: total, value: Math.min(done, total) })} />
      <span className="quiet">{words}</span>
    </div>
  );
}
