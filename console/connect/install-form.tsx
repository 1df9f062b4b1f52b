/** A form that installs an integration: the customer chooses optional fields and maps fields of the account. */
import { graphql, useFragment } from 'react-relay';
import type { installForm_integration$key } from '../__generated__/installForm_integration.graphql.ts';
import type { installFormFieldsQuery } from '../__generated__/installFormFieldsQuery.graphql.ts';
import type { installFormMutation } from '../__generated__/installFormMutation.graphql.ts';
import { ObjectFields, readFieldConfig, UNDESCRIBED } from '../src/fields/object-fields.tsx';
import { Action, Form, Refusal } from '../src/parts/form.tsx';
import { Loaded } from '../src/parts/page.tsx';
import { useChange, usePageQuery } from '../src/parts/queries.ts';
import { useCustomerProblem } from './customer-problem.ts';
import { useMessages } from './messages.ts';
import { notifyOpener } from './opener.ts';

const INTEGRATION = graphql`
  fragment installForm_integration on Integration {
    name
    provider
    latestRevision {
      content {
        read {
          objects {
            objectName
            ...objectFields_object
          }
        }
      }
    }
  }
`;

const CREATE_INSTALLATION = graphql`
  mutation installFormMutation($input: CreateInstallationInput!) {
    createInstallation(input: $input) {
      installation {
        id
      }
    }
  }
`;

const FIELDS = graphql`
  query installFormFieldsQuery(
    $project: String!
    $groupRef: String!
    $provider: String!
    $objectName: String!
  ) {
    objectMetadata(
      projectIdOrName: $project
      groupRef: $groupRef
      provider: $provider
      objectName: $objectName
    ) {
      displayName
      fields {
        fieldName
        displayName
      }
    }
  }
`;

interface InstallFormProps {
  projectId: string;
  groupRef: string;
  connectionId: string;
  integration: installForm_integration$key;
}

export function InstallForm({ projectId, groupRef, connectionId, ...props }: InstallFormProps) {
  const messages = useMessages();
  const { name, provider, latestRevision } = useFragment(INTEGRATION, props.integration);
  const { run, isRunning, ...change } = useChange<installFormMutation>(CREATE_INSTALLATION);
  const problem = useCustomerProblem(change.problem);
  const objects = latestRevision.content.read?.objects ?? [];
  const install = async (values: Record<string, FormDataEntryValue>) => {
    const read = objects.map(({ objectName }) => readFieldConfig(values, objectName));
    const target = {
      projectIdOrName: projectId,
      integrationIdOrName: name,
      groupRef,
      connectionId,
    };
    const response = await run({
      input: { ...target, ...(read.length > 0 && { config: { read } }) },
    });
    if (!response) return;
    const { id: installationId } = response.createInstallation.installation;
    notifyOpener({ type: 'installed', installationId, integration: name });
  };
  return (
    <Form problem={problem} onSubmit={install}>
      {objects.map((object) => (
        <Loaded
          key={object.objectName}
          resetKey={object.objectName}
          errorFallback={<ObjectFields object={object} accountObject={UNDESCRIBED} config={null} />}
        >
          <DescribedFields
            queryVariables={{
              project: projectId,
              groupRef,
              provider,
              objectName: object.objectName,
            }}
            object={object}
          />
        </Loaded>
      ))}
      <Refusal problem={problem} />
      <div className="row end">
        <Action type="submit" kind="primary" isPending={isRunning}>
          {messages.start}
        </Action>
      </div>
    </Form>
  );
}

interface DescribedFieldsProps {
  queryVariables: installFormFieldsQuery['variables'];
  object: Parameters<typeof ObjectFields>[0]['object'];
}

function DescribedFields({ queryVariables, object }: DescribedFieldsProps) {
  const { objectMetadata } = usePageQuery<installFormFieldsQuery>(FIELDS, queryVariables);
  return (
    <ObjectFields object={object} accountObject={objectMetadata ?? UNDESCRIBED} config={null} />
  );
}
