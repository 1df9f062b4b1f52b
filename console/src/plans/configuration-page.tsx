/** The project as one document: export it, change it, and plan the change. */
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { configurationPageMutation } from '../../__generated__/configurationPageMutation.graphql.ts';
import type { configurationPageQuery } from '../../__generated__/configurationPageQuery.graphql.ts';
import { ChangeForm } from '../parts/change-form.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { CheckBox, TextInput } from '../parts/form.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Snippet } from '../parts/snippet.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { DELETIONS_LABEL } from './plan-result.tsx';

const PAGE_QUERY = graphql`
  query configurationPageQuery($project: String!) {
    exportProject(projectIdOrName: $project) {
      document
    }
  }
`;

const PLAN_PROJECT = graphql`
  mutation configurationPageMutation($input: PlanProjectInput!) {
    planProject(input: $input) {
      plan {
        id
      }
    }
  }
`;

const LINES = 24;

export default function ConfigurationPage({ project }: ConsolePageProps) {
  const variables = { project };
  const { exportProject } = usePageQuery<configurationPageQuery>(PAGE_QUERY, variables);
  const [, navigate] = useLocation();
  const linkTo = useProjectLink(project);
  return (
    <Page
      title="Configuration"
      description="Everything that you configure in the project, as one document. Preview what a changed document would do before you apply it."
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel title="Change the document">
        <ChangeForm<configurationPageMutation>
          mutation={PLAN_PROJECT}
          variables={({ document: text, allowDeletions }) => ({
            input: {
              projectIdOrName: project,
              document: String(text),
              allowDeletions: allowDeletions === 'on',
            },
          })}
          submitLabel="Preview changes"
          kind="primary"
          skipRefetch
          onDone={({ planProject }) => navigate(linkTo(`configuration/${planProject.plan.id}`))}
        >
          <TextInput
            name="document"
            label="Document (YAML or JSON)"
            lines={LINES}
            defaultValue={exportProject?.document ?? ''}
            isWide
          />
          <CheckBox name="allowDeletions" label={DELETIONS_LABEL} />
        </ChangeForm>
      </Panel>
      <Panel title="From the command line">
        <p className="quiet">
          Keep the document in version control, and check pull requests. Run these commands in the
          gateway’s folder. In its image, the command is <code>gateway</code>.
        </p>
        <Snippet
          title="Commands"
          text={`export GATEWAY_URL=${location.origin}
export GATEWAY_API_KEY=ik_...
${['export', 'plan', 'apply'].map((name) => `npm run -s gateway -- ${name} --project ${project} -f project.yaml`).join('\n')}`}
        />
      </Panel>
    </Page>
  );
}
