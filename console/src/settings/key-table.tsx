/** A table of keys, with buttons to activate, deactivate and delete them. */
import type { ReactNode } from 'react';
import { type ChangeState, Confirm } from '../parts/dialog.tsx';
import { Action, Refusal } from '../parts/form.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';

interface KeyRow {
  id: string;
  label: string;
  active: boolean;
}

interface KeyTableProps<Row extends KeyRow> {
  label: string;
  /** Further columns, between the state and the actions. */
  columns: readonly string[];
  keys: readonly Row[];
  update: ChangeState;
  remove: ChangeState;
  onSwitch: (id: string, active: boolean) => unknown;
  onDelete: (id: string) => Promise<unknown>;
  /** The consequence of deleting a key. */
  deleteWarning: string;
  /** Shown below the label. */
  renderDetails?: (key: Row) => ReactNode;
  children: (key: Row) => ReactNode;
}

export function KeyTable<Row extends KeyRow>(props: KeyTableProps<Row>) {
  const { label, columns, keys, update, remove, onSwitch, onDelete } = props;
  const { deleteWarning, renderDetails, children } = props;
  return (
    <>
      <Refusal problem={update.problem} />
      <Table label={label} columns={['Label', 'Status', ...columns, 'Actions']}>
        {keys.map((key) => (
          <tr key={key.id}>
            <td>
              <span className="strong">{key.label}</span>
              {renderDetails?.(key)}
            </td>
            <td>
              <Status value={key.active ? 'ACTIVE' : 'INACTIVE'} />
            </td>
            {children(key)}
            <td>
              <div className="row">
                <Action onPress={() => onSwitch(key.id, !key.active)}>
                  {key.active ? 'Deactivate' : 'Activate'}
                </Action>
                <Confirm
                  triggerLabel="Delete"
                  title={`Delete key ${key.label}?`}
                  change={remove}
                  onConfirm={() => onDelete(key.id)}
                >
                  <p>{deleteWarning}</p>
                </Confirm>
              </div>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
