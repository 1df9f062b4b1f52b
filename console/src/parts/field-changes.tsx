/** The fields that a write changes, with their values before and after. */
import { usePartMessages } from './part-messages.ts';
import { Table } from './table.tsx';

interface FieldChange {
  name: string;
  /** The field's name for people. */
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
            {/* The word has the same meaning as the color, for people who do not distinguish the colors. */}
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

/** The word for the change. Null if the value is unchanged. */
function findChange(before: unknown, after: unknown): Change | null {
  if (isEmpty(before)) return isEmpty(after) ? null : 'added';
  if (isEmpty(after)) return 'removed';
  return JSON.stringify(before) === JSON.stringify(after) ? null : 'changed';
}

/** An empty text is shown like a missing value, as most apps do. */
const isEmpty = (value: unknown) => value == null || value === '';

/**
 * Values come from providers and agents. Each is isolated, so that right-to-left characters in a value do not
 * reorder the text around it.
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
