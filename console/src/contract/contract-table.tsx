/** A contract as tables: its objects with what callers may do, and their fields. */
import { graphql, useFragment } from 'react-relay';
import type {
  contractTable_contract$data,
  contractTable_contract$key,
} from '../../__generated__/contractTable_contract.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { useProviderNames } from '../parts/provider-mark.tsx';
import { formatWords } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';

export const CONTRACT = graphql`
  fragment contractTable_contract on Contract {
    findings {
      object
      field
      message
    }
    objects {
      name
      displayName
      verbs
      acceptsOtherFields
      sources {
        integration
        provider
        providerObject
      }
      fields {
        name
        providerField
        type
        isList
        isTypeKnown
        isAlwaysRead
        isReadOnly
        isRequired
        isWriteOnly
        origin
        values {
          value
        }
      }
    }
  }
`;

export type ObjectContract = contractTable_contract$data['objects'][number];
export type FieldContract = ObjectContract['fields'][number];

export function ContractTable({ contract }: { contract: contractTable_contract$key }) {
  const { findings, objects } = useFragment(CONTRACT, contract);
  if (objects.length === 0) {
    return (
      <Empty title="No objects">
        The contract has the objects that integrations read and write.
      </Empty>
    );
  }
  return (
    <>
      {findings.length > 0 && (
        <ul className="issues">
          {findings.map(({ object, field, message }) => (
            <li key={`${object} ${field} ${message}`}>
              <code>{field ? `${object}.${field}` : object}</code>: {message}
            </li>
          ))}
        </ul>
      )}
      {objects.map((object) => (
        <ObjectTable key={object.name} object={object} />
      ))}
    </>
  );
}

const COLUMNS = ['Field', 'Type', 'Read', 'Write', 'Provider field'];

function ObjectTable({ object }: { object: ObjectContract }) {
  const getProviderName = useProviderNames();
  const { name, displayName, sources, verbs, fields, acceptsOtherFields } = object;
  const isWritten = verbs.includes('CREATE') || verbs.includes('UPDATE');
  return (
    <section className="contract-object">
      <h3>
        {displayName && displayName !== name && `${displayName} `}
        <code className="strong">{name}</code>
      </h3>
      <p className="quiet">
        {sources
          .map(({ integration, provider, providerObject }) =>
            [integration, getProviderName(provider), providerObject].join(' · '),
          )
          .join(', ')}
      </p>
      <p className="quiet">
        {verbs.map(formatWords).join(', ') || 'No operations'}
        {acceptsOtherFields &&
          `. Writes may name any ${fields.length > 0 ? 'other ' : ''}field of the provider.`}
      </p>
      {fields.length > 0 && (
        <Table label={`Fields of ${name}`} columns={COLUMNS}>
          {fields.map((field) => (
            <tr key={field.name}>
              <td>
                <code>{field.name}</code>
              </td>
              <td>{formatType(field)}</td>
              <td>{formatPresence(field)}</td>
              <td>{isWritten ? formatWrite(field) : '—'}</td>
              <td>
                {field.providerField ? (
                  <code>{field.providerField}</code>
                ) : (
                  <span className="quiet">{explainNoProviderField(object, field)}</span>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

const VALUES_SHOWN = 5;

export function formatType({ type, isList, isTypeKnown, values }: FieldContract): string {
  if (!isTypeKnown) return 'unknown';
  const word = type.toLowerCase().replace('_', '-');
  const name = isList ? `list of ${word}` : word;
  if (!values?.length) return name;
  const firstValues = values.slice(0, VALUES_SHOWN).map(({ value }) => value);
  const hiddenCount = values.length - firstValues.length;
  const more = hiddenCount > 0 ? ` and ${hiddenCount} more` : '';
  return `${name}: ${firstValues.join(', ')}${more}`;
}

const PRESENCE: Record<FieldContract['origin'], string> = {
  REQUIRED: 'always',
  OPTIONAL: 'if selected',
  MAPPED: 'if mapped',
  EXTRA: 'if selected',
};

function formatPresence({ isAlwaysRead, isWriteOnly, origin }: FieldContract): string {
  if (isWriteOnly) return 'never';
  return isAlwaysRead ? 'always' : PRESENCE[origin];
}

function explainNoProviderField({ sources }: ObjectContract, { origin }: FieldContract): string {
  if (sources.length > 1) return 'differs';
  return origin === 'MAPPED' ? 'chosen at installation' : '—';
}

function formatWrite({ isRequired, isReadOnly }: FieldContract): string {
  if (isReadOnly) return 'read-only';
  return isRequired ? 'required' : 'optional';
}
