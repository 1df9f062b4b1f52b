/** The fields that a write changes, with their values before and after. */
import { usePartMessages } from './part-messages.ts';
import { Table } from './table.tsx';

interface FieldChange {
  name: string;
  /** The name that people see. */
  label: string;
  before: unknown;
  after: unknown;
}

interface FieldChangesProps {
  /** The record that the fields belong to, for screen readers. Unique on the page. */
  label: string;
  changes: readonly FieldChange[];
}

export function FieldChanges({ label: record, changes }: FieldChangesProps) {
  const messages = usePartMessages();
  return (
    <Table
      label={`${messages.fields}: ${record}`}
      columns={[messages.field, messages.before, messages.after]}
    >
      {changes.map(({ name, label, before, after }) => {
        const change = findChange(before, after);
        return (
          <tr key={name}>
            <th scope="row">{label}</th>
            <td className="value">
              <Value value={before} />
            </td>
            {/* The word repeats the color, for readers who do not distinguish colors. */}
            <td className={`value ${change ?? ''}`}>
              <Value value={after} /> {change && <span className="tag">{messages[change]}</span>}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

type Change = 'added' | 'changed' | 'removed';

/** Null if the value stays. */
function findChange(before: unknown, after: unknown): Change | null {
  if (isEmpty(before)) return isEmpty(after) ? null : 'added';
  if (isEmpty(after)) return 'removed';
  return JSON.stringify(before) === JSON.stringify(after) ? null : 'changed';
}

/** An empty text and no value look the same in every app. */
const isEmpty = (value: unknown) => value == null || value === '';

/**
 * Values come from providers and agents. They are isolated, so that right-to-left characters in one don't reorder the
 * text around it.
 */
function Value({ value }: { value: unknown }) {
  const { empty } = usePartMessages();
  if (isEmpty(value)) return <span className="quiet">{empty}</span>;
  if (typeof value === 'string') return <bdi>{value}</bdi>;
  return (
    <bdi>
      <code>{JSON.stringify(value, null, 2)}</code>
    </bdi>
  );
}
