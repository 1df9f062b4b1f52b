/** A form for a new revision. It starts with the content of the latest one. */
import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { content_revision$key } from '../../__generated__/content_revision.graphql.ts';
import type { newRevision_revision$key } from '../../__generated__/newRevision_revision.graphql.ts';
import type { newRevisionMutation } from '../../__generated__/newRevisionMutation.graphql.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ControlledCheckBox } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';
import { CONTENT, formatContent } from './content.ts';
import { RevisionEditor } from './revision-editor.tsx';
import { RevisionPreview } from './revision-preview.tsx';

const REVISION = graphql`
  fragment newRevision_revision on Revision {
    ...content_revision
  }
`;

const CREATE = graphql`
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
  revision: newRevision_revision$key;
  kind: 'primary' | 'plain';
}

export function NewRevision({ input, integration, revision, kind }: NewRevisionProps) {
  const key: content_revision$key = useFragment(REVISION, revision);
  const { specVersion, content } = useFragment(CONTENT, key);
  const { run, isRunning, problem } = useChange<newRevisionMutation>(CREATE);
  const [destructive, setDestructive] = useState(false);
  return (
    <Dialog triggerLabel="Create revision" kind={kind} title="Create revision" isWide>
      {(close) => (
        <RevisionEditor
          initial={formatContent(content)}
          problem={problem}
          prefix="input.revision.content."
          isRunning={isRunning}
          submitLabel="Create revision"
          onSave={async (next) => {
            const revision = { specVersion, content: next as never };
            const response = await run({ input: { ...input, destructive, revision } });
            return response?.createRevision.warnings ?? null;
          }}
          onDone={close}
          onCancel={close}
        >
          {(next) => (
            <>
              <ControlledCheckBox
                label="Pause reads of objects that this revision removes"
                isOn={destructive}
                onChange={setDestructive}
              />
              <RevisionPreview
                project={input.projectIdOrName}
                integration={integration}
                content={next}
                specVersion={specVersion}
              />
            </>
          )}
        </RevisionEditor>
      )}
    </Dialog>
  );
}
