/** Creates a custom provider from a document. */
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { newProviderPageMutation } from '../../__generated__/newProviderPageMutation.graphql.ts';
import { RevisionEditor } from '../integrations/revision-editor.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { useChange } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { DOCUMENT_PREFIX, DOCUMENT_TEMPLATE, DOCUMENT_TEXT } from './document-text.ts';

const CREATE_PROVIDER = graphql`
  mutation newProviderPageMutation($input: CreateProviderInput!) {
    createProvider(input: $input) {
      customProvider {
        name
      }
    }
  }
`;

export default function NewProviderPage({ project }: ConsolePageProps) {
  const { run, isRunning, problem } = useChange<newProviderPageMutation>(CREATE_PROVIDER);
  const [, navigate] = useLocation();
  const linkTo = useProjectLink(project);
  const create = async ({ document }: Record<string, unknown>) => {
    const input = { projectIdOrName: project, document: String(document) };
    const response = await run({ input });
    if (response) navigate(linkTo(`providers/${response.createProvider.customProvider.name}`));
    return null;
  };
  return (
    <Page
      title="New provider"
      description="Describe an API that the catalog lacks, in YAML or JSON. Only this project has the provider. Its name begins with x- and never changes."
    >
      <Panel title="Document">
        <RevisionEditor
          format={DOCUMENT_TEXT}
          initial={DOCUMENT_TEMPLATE}
          problem={problem}
          prefix={DOCUMENT_PREFIX}
          isRunning={isRunning}
          submitLabel="Create provider"
          onSave={create}
          onDone={() => navigate(linkTo('providers'))}
          onCancel={() => navigate(linkTo('providers'))}
        />
      </Panel>
    </Page>
  );
}
