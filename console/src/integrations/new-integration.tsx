/** A form for a new integration. It starts with sample content. */
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { newIntegrationMutation } from '../../__generated__/newIntegrationMutation.graphql.ts';
import { Dialog } from '../parts/dialog.tsx';
import { useAddress } from '../parts/filters.tsx';
import { useChange } from '../parts/queries.ts';
import { textOf } from './content.ts';
import { RevisionEditor } from './revision-editor.tsx';

const CREATE = graphql`
  mutation newIntegrationMutation($input: CreateIntegrationInput!) {
    createIntegration(input: $input) {
      integration {
        name
      }
      warnings
    }
  }
`;

const FIRST = textOf({
  name: 'my-integration',
  provider: 'sandbox',
  read: {
    objects: [
      {
        objectName: 'contacts',
        destination: 'records',
        schedule: '*/10 * * * *',
        requiredFields: [{ fieldName: 'email', mapToName: 'emailAddress' }],
        optionalFieldsAuto: 'ALL',
      },
    ],
  },
  write: { objects: [{ objectName: 'contacts', inheritMapping: true }] },
});

export function NewIntegration({ project }: { project: string }) {
  const { run, isRunning, problem } = useChange<newIntegrationMutation>(CREATE);
  const [, navigate] = useLocation();
  const address = useAddress(project);
  const create = async (content: Record<string, unknown>) => {
    const { name, provider } = content;
    const latestRevision = { specVersion: '1.0.0', content: content as never };
    const input = { projectIdOrName: project, latestRevision };
    const names = { name: String(name), provider: String(provider) };
    const response = await run({ input: { ...input, ...names } });
    return response?.createIntegration.warnings ?? null;
  };
  return (
    <Dialog opener="New integration" kind="primary" title="New integration" isWide>
      {(close) => (
        <RevisionEditor
          initial={FIRST}
          problem={problem}
          prefix="input.latestRevision.content."
          isRunning={isRunning}
          save="Create integration"
          onSave={create}
          onDone={({ name }) => navigate(address(`integrations/${name}`))}
          onCancel={close}
        />
      )}
    </Dialog>
  );
}
