/** Tables that scroll on a narrow screen, and lists of facts. */
import type { ReactNode } from 'react';
import { useLocale } from 'react-aria-components';
import { usePartMessages } from './part-messages.ts';

interface TableProps {
  /** The content of the table, for screen readers. */
  label: string;
  columns: readonly string[];
  /**
   * Columns that are hidden on narrow screens, because each row's page also shows them. Columns that the
   * table lacks are ignored.
   */
  detailColumns?: readonly string[];
  children: ReactNode;
}

export function Table({ label, columns, detailColumns = [], children }: TableProps) {
  const detailPositions = detailColumns.map((name) => columns.indexOf(name) + 1);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section className="scrolls" tabIndex={0} aria-label={label}>
      <table {...(detailPositions.length > 0 && { 'data-details': detailPositions.join(' ') })}>
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

/** Shows facts about one object as pairs of names and values. A fact whose value is null is omitted. */
export function Facts({ facts }: { facts: Record<string, ReactNode> }) {
  return (
    <dl className="facts">
      {Object.entries(facts)
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

export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section className="json" tabIndex={0} aria-label={label}>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </section>
  );
}

interface BarProps {
  label: string;
  completed: number;
  /** Null until the provider has reported the total. */
  total: number | null | undefined;
  /** The unit that is counted. Default: records. */
  unit?: string;
}

export function Progress({ label, completed, total, unit }: BarProps) {
  const { locale } = useLocale();
  const messages = usePartMessages();
  const isKnown = total != null && total > 0;
  const count = completed.toLocaleString(locale);
  const words = unit
    ? `${count}${isKnown ? ` of ${total.toLocaleString(locale)}` : ''} ${unit}`
    : isKnown
      ? messages.recordsOfAbout(count, total.toLocaleString(locale))
      : messages.records(completed, count);
  return (
    <div className="progress">
      <progress
        aria-label={label}
        {...(isKnown && { max: total, value: Math.min(completed, total) })}
      />
      <span className="quiet">{words}</span>
    </div>
  );
}
