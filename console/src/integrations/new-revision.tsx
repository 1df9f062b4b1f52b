/** Creates a revision in a dialog. The editor starts with the content of the latest revision. */
import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { content_revision$key } from '../../__generated__/content_revision.graphql.ts';
import type {
  IntegrationContentInput,
  newRevisionMutation,
} from '../../__generated__/newRevisionMutation.graphql.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ControlledCheckBox } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';
import { CONTENT, formatContent } from './content.ts';
import { RevisionEditor } from './revision-editor.tsx';
import { RevisionPreview } from './revision-preview.tsx';

const CREATE_REVISION = graphql`
  mutation newRevisionMutation($input: CreateRevisionInput!) {
    createRevision(input: $input) {
      revision {
        id
      }
      warnings
    }
  }
`;

interface NewRevisionProps {
  input: { projectIdOrName: string; integrationIdOrName: string };
  integration: { name: string; provider: string };
  latestRevision: content_revision$key;
  kind: 'primary' | 'plain';
}

export function NewRevision({ input, integration, latestRevision, kind }: NewRevisionProps) {
  const { specVersion, content } = useFragment(CONTENT, latestRevision);
  const {
    run: createRevision,
    isRunning,
    problem,
  } = useChange<newRevisionMutation>(CREATE_REVISION);
  const [isDestructive, setDestructive] = useState(false);
  return (
    <Dialog triggerLabel="Create revision" kind={kind} title="Create revision" isWide>
      {(close) => (
        <RevisionEditor
          initial={formatContent(content)}
          problem={problem}
          prefix="input.revision.content."
          isRunning={isRunning}
          submitLabel="Create revision"
          onSave={async (newContent) => {
            const response = await createRevision({
              input: {
                ...input,
                destructive: isDestructive,
                // The gateway validates the content.
                revision: { specVersion, content: newContent as IntegrationContentInput },
              },
            });
            return response?.createRevision.warnings ?? null;
          }}
          onDone={close}
          onCancel={close}
        >
          {(newContent) => (
            <>
              <ControlledCheckBox
                label="Pause reads of objects that this revision removes"
                isOn={isDestructive}
                onChange={setDestructive}
              />
              <RevisionPreview
                project={input.projectIdOrName}
                integration={integration}
                content={newContent}
                specVersion={specVersion}
              />
            </>
          )}
        </RevisionEditor>
      )}
    </Dialog>
  );
}
