/** Shows a contract as tables: its objects with their operations, and the fields of each object. */
import { Fragment } from 'react';
import { graphql, useFragment } from 'react-relay';
import type {
  contractTable_contract$data,
  contractTable_contract$key,
} from '../../__generated__/contractTable_contract.graphql.ts';
import { getIntegrationName, type NamedIntegration } from '../parts/integration-name.ts';
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

interface ContractTableProps {
  contract: contractTable_contract$key;
  /**
   * The integrations of the project. Omitted on the page of one integration or installation, where they would
   * repeat its title.
   */
  integrations?: readonly NamedIntegration[];
}

export function ContractTable({ contract, integrations }: ContractTableProps) {
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
        <ObjectTable key={object.name} object={object} integrations={integrations} />
      ))}
    </>
  );
}

const COLUMNS = ['Field', 'Type', 'Read', 'Write', 'Provider field'];

interface ObjectTableProps {
  object: ObjectContract;
  integrations: ContractTableProps['integrations'];
}

function ObjectTable({ object, integrations }: ObjectTableProps) {
  const { name, displayName, sources, verbs, fields, acceptsOtherFields } = object;
  const isWritten = verbs.includes('CREATE') || verbs.includes('UPDATE');
  return (
    <section className="contract-object">
      <h3>
        {displayName && displayName !== name && `${displayName} `}
        <code className="strong">{name}</code>
      </h3>
      <p className="quiet">
        {sources.map((source, index) => (
          <Fragment key={`${source.integration} ${source.providerObject}`}>
            {index > 0 && ', '}
            <Source source={source} integrations={integrations} />
          </Fragment>
        ))}
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

interface SourceProps {
  source: ObjectContract['sources'][number];
  integrations: ContractTableProps['integrations'];
}

function Source({ source, integrations }: SourceProps) {
  const getProviderName = useProviderNames();
  const object = (
    <>
      <code>{source.providerObject}</code> at {getProviderName(source.provider)}
    </>
  );
  if (!integrations) return object;
  const integration = integrations.find(({ name }) => name === source.integration);
  return (
    <>
      {integration ? getIntegrationName(integration) : source.integration}: {object}
    </>
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
  if (isWriteOnly) return 'not read';
  return isAlwaysRead ? 'always' : PRESENCE[origin];
}

function explainNoProviderField({ sources }: ObjectContract, { origin }: FieldContract): string {
  if (sources.length > 1) return 'depends on the integration';
  return origin === 'MAPPED' ? 'chosen at installation' : '—';
}

function formatWrite({ isRequired, isReadOnly }: FieldContract): string {
  if (isReadOnly) return 'read-only';
  return isRequired ? 'required' : 'optional';
}
