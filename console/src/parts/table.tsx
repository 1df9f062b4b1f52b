/** Tables that scroll by themselves on a narrow screen, facts as pairs, and the button for the next page. */
import type { ReactNode } from 'react';
import { Action } from './form.tsx';

interface TableProps {
  /** What it lists, for readers of screens. */
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

interface MoreProps {
  shown: number;
  total: number;
  hasNext: boolean;
  isLoading: boolean;
  loadNext: (count: number) => void;
}

export const PAGE_SIZE = 25;

export function More({ shown, total, hasNext, isLoading, loadNext }: MoreProps) {
  return (
    <div className="more">
      <span className="quiet">
        {shown} of {total.toLocaleString('en')}
      </span>
      {hasNext && (
        <Action isPending={isLoading} onPress={() => loadNext(PAGE_SIZE)}>
          Show more
        </Action>
      )}
    </div>
  );
}

/** Facts of one thing. A fact that is null is left out. */
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
  /** Unknown as long as the provider does not tell. */
  total: number | null | undefined;
}

export function Progress({ label, done, total }: BarProps) {
  const known = total != null && total > 0;
  const words = known
    ? `${done.toLocaleString('en')} of about ${total.toLocaleString('en')} records`
    : `${done.toLocaleString('en')} records`;
  return (
    <div className="progress">
      <progress aria-label={label} {...(known && { max: total, value: Math.min(done, total) })} />
      <span className="quiet">{words}</span>
    </div>
  );
}
