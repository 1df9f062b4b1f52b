/** The document of a custom provider, and the actions that change, delete and test the provider. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import type { customProviderDeleteMutation } from '../../__generated__/customProviderDeleteMutation.graphql.ts';
import type { customProviderQuery } from '../../__generated__/customProviderQuery.graphql.ts';
import type { customProviderUpdateMutation } from '../../__generated__/customProviderUpdateMutation.graphql.ts';
import { RevisionEditor } from '../integrations/revision-editor.tsx';
import { ConfirmChange, Dialog } from '../parts/dialog.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { ControlledCheckBox } from '../parts/form.tsx';
import { Panel } from '../parts/page.tsx';
import { useChange, usePageQuery } from '../parts/queries.ts';
import { Snippet } from '../parts/snippet.tsx';
import { DOCUMENT_PREFIX, DOCUMENT_TEXT } from './document-text.ts';
import { TestProvider } from './test-provider.tsx';

/** Queried by its id, because the documents of all providers of a project may have megabytes. */
const QUERY = graphql`
  query customProviderQuery($project: String!, $id: ID!, $name: String!) {
    node(id: $id) {
      ... on CustomProvider {
        document
        revision
        problem
      }
    }
    project(idOrName: $project) {
      connections(first: 50, provider: $name) {
        ...testProvider_connections
      }
    }
  }
`;

const UPDATE_PROVIDER = graphql`
  mutation customProviderUpdateMutation($input: UpdateProviderInput!) {
    updateProvider(input: $input) {
      suspendedConnections
    }
  }
`;

const DELETE_PROVIDER = graphql`
  mutation customProviderDeleteMutation($input: DeleteProviderInput!) {
    deleteProvider(input: $input) {
      deletedId
    }
  }
`;

interface CustomProviderProps {
  project: string;
  id: string;
  name: string;
}

export function CustomProvider({ project: projectIdOrName, id, name }: CustomProviderProps) {
  const variables = { project: projectIdOrName, id, name };
  const { node, project } = usePageQuery<customProviderQuery>(QUERY, variables);
  const linkTo = useProjectLink(projectIdOrName);
  if (node?.document === undefined) return null;
  const input = { projectIdOrName, customProviderId: id };
  return (
    <>
      {node.problem && (
        <p role="alert" className="refusal">
          This version of the gateway can’t use the document, so the connections wait.{' '}
          {node.problem}
        </p>
      )}
      <Panel
        title="Document"
        actions={
          <>
            {project && (
              <TestProvider project={projectIdOrName} connections={project.connections} />
            )}
            <EditDocument input={input} document={node.document} />
            <ConfirmChange<customProviderDeleteMutation>
              triggerLabel="Delete"
              title={`Delete ${name}?`}
              mutation={DELETE_PROVIDER}
              variables={{ input }}
              leadsTo={linkTo('providers')}
            >
              <p>A provider can be deleted when no integration, connection or app uses it.</p>
            </ConfirmChange>
          </>
        }
      >
        <Snippet title={`Revision ${node.revision}`} text={node.document} />
      </Panel>
    </>
  );
}

interface EditDocumentProps {
  input: { projectIdOrName: string; customProviderId: string };
  document: string;
}

function EditDocument({ input, document: initial }: EditDocumentProps) {
  const change = useChange<customProviderUpdateMutation>(UPDATE_PROVIDER);
  const [isDestructive, setDestructive] = useState(false);
  /** Resolves with the consequences of the saved document, or with null if the gateway refused it. */
  const save = async ({ document }: Record<string, unknown>) => {
    const changed = { ...input, document: String(document), destructive: isDestructive };
    const response = await change.run({ input: changed });
    if (!response) return null;
    const count = response.updateProvider.suspendedConnections;
    return count > 0 ? [`Accounts that must be connected again: ${count}.`] : [];
  };
  return (
    <Dialog triggerLabel="Edit document" kind="primary" title="Edit document" isWide>
      {(close) => (
        <RevisionEditor
          format={DOCUMENT_TEXT}
          initial={initial}
          problem={change.problem}
          prefix={DOCUMENT_PREFIX}
          isRunning={change.isRunning}
          submitLabel="Save"
          onSave={save}
          onDone={close}
          onCancel={close}
        >
          {() =>
            // The gateway refuses a change that breaks something, and lists what it breaks.
            (change.problem?.code === 'CONFLICT' || isDestructive) && (
              <ControlledCheckBox
                label="Save the document although it breaks this"
                isOn={isDestructive}
                onChange={setDestructive}
              />
            )
          }
        </RevisionEditor>
      )}
    </Dialog>
  );
}
