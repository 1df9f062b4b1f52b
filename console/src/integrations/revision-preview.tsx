/** Previews a new revision: the customers whose installations it would break, and its changes. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import type { revisionPreviewMutation } from '../../__generated__/revisionPreviewMutation.graphql.ts';
import { useProjectLink } from '../parts/filters.tsx';
import { Action, Refusal } from '../parts/form.tsx';
import { type ChangeResponse, useChange } from '../parts/queries.ts';
import { PlanResult } from '../plans/plan-result.tsx';
import { toManifestForm } from './manifest-form.ts';

const PLAN_PROJECT = graphql`
  mutation revisionPreviewMutation($input: PlanProjectInput!) {
    planProject(input: $input) {
      plan {
        ...planResult_plan
      }
    }
  }
`;

interface RevisionPreviewProps {
  project: string;
  integration: { name: string; provider: string };
  /** Null if the editor's text is not a JSON object. */
  content: object | null;
  specVersion: string;
}

export function RevisionPreview(props: RevisionPreviewProps) {
  const { project, integration, content, specVersion } = props;
  const { run, isRunning, problem } = useChange<revisionPreviewMutation>(PLAN_PROJECT, {
    skipRefetch: true,
  });
  const [preview, setPreview] = useState<{
    content: string;
    plan: ChangeResponse<revisionPreviewMutation>['planProject']['plan'];
  } | null>(null);
  const linkTo = useProjectLink(project);
  const text = JSON.stringify(content);
  const loadPreview = async () => {
    const document = formatDocument({
      specVersion,
      integrations: [{ ...Object(toManifestForm(content)), ...integration }],
    });
    const response = await run({ input: { projectIdOrName: project, document } });
    setPreview(response && { content: text, plan: response.planProject.plan });
  };
  return (
    <>
      <div className="row">
        <Action isPending={isRunning} isDisabled={content === null} onPress={loadPreview}>
          Preview
        </Action>
      </div>
      <Refusal problem={problem} />
      {preview?.content === text && <PlanResult plan={preview.plan} linkTo={linkTo} />}
    </>
  );
}

/** Formats a document without null members. */
function formatDocument(document: object): string {
  return JSON.stringify(document, (_key, value) => (value === null ? undefined : value));
}
