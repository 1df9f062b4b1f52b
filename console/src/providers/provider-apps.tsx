/** The project's OAuth apps at a provider. Customers can't consent there if the project has no app. */
import { graphql, useFragment } from 'react-relay';
import type { providerApps_project$key } from '../../__generated__/providerApps_project.graphql.ts';
import type { providerApps_provider$key } from '../../__generated__/providerApps_provider.graphql.ts';
import type { providerAppsCreateMutation } from '../../__generated__/providerAppsCreateMutation.graphql.ts';
import type { providerAppsDeleteMutation } from '../../__generated__/providerAppsDeleteMutation.graphql.ts';
import { Copyable } from '../parts/copy.tsx';
import { ConfirmChange, FormDialog } from '../parts/dialog.tsx';
import { type FormValues, TextInput } from '../parts/form.tsx';
import { Empty } from '../parts/page.tsx';
import { Facts } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

const APPS = graphql`
  fragment providerApps_project on Project @argumentDefinitions(provider: { type: "String" }) {
    providerApps(first: 20, provider: $provider) {
      nodes {
        id
        clientId
        externalRef
        scopes
        warnings
        createTime
        redirectUrl
        webhookUrl
        webhookInstructions
      }
    }
  }
`;

const PROVIDER = graphql`
  fragment providerApps_provider on Provider {
    name
    displayName
    scopes
    appInputs {
      authQueryParams {
        name
        displayName
        optional
        prompt
        docsUrl
      }
      providerParams {
        name
        displayName
        optional
        prompt
        docsUrl
      }
    }
  }
`;

const CREATE_PROVIDER_APP = graphql`
  mutation providerAppsCreateMutation($input: CreateProviderAppInput!) {
    createProviderApp(input: $input) {
      providerApp {
        id
      }
    }
  }
`;

const DELETE_PROVIDER_APP = graphql`
  mutation providerAppsDeleteMutation($input: DeleteProviderAppInput!) {
    deleteProviderApp(input: $input) {
      deletedId
    }
  }
`;

interface ProviderAppsProps {
  project: providerApps_project$key;
  projectIdOrName: string;
  /** True if customers of this provider consent in a browser. */
  hasConsent: boolean;
}

export function ProviderApps({ project, projectIdOrName, hasConsent }: ProviderAppsProps) {
  const { nodes } = useFragment(APPS, project).providerApps;
  if (nodes.length === 0) {
    return (
      <Empty title="No apps yet">
        {hasConsent
          ? 'Register a client at the provider and add its ID and secret here, so that customers can consent.'
          : 'Connections to this provider need no app.'}
      </Empty>
    );
  }
  return nodes.map(({ id, clientId, externalRef, scopes, createTime, ...app }) => (
    <div key={id} className="app">
      <Facts
        facts={{
          'Client ID': <Copyable value={clientId} label="client ID" />,
          'App ID at the provider': externalRef,
          Scopes: scopes.join(' ') || null,
          Warning: app.warnings.join(' ') || null,
          'Redirect URL': app.redirectUrl && (
            <Copyable value={app.redirectUrl} label="redirect URL" />
          ),
          'Webhook URL': app.webhookUrl && <Copyable value={app.webhookUrl} label="webhook URL" />,
          'Set up at the provider': app.webhookInstructions,
          Created: <Time value={createTime} />,
        }}
      />
      <ConfirmChange<providerAppsDeleteMutation>
        triggerLabel="Delete"
        title={`Delete app ${clientId}?`}
        mutation={DELETE_PROVIDER_APP}
        variables={{ input: { projectIdOrName, providerAppId: id } }}
      >
        <p>The gateway can no longer refresh the tokens of connections that use this app.</p>
      </ConfirmChange>
    </div>
  ));
}

/** The lists of a provider app's metadata. */
const APP_INPUT_LISTS = ['authQueryParams', 'providerParams'] as const;

interface NewAppProps {
  projectIdOrName: string;
  provider: providerApps_provider$key;
  /** True if customers of this provider consent in a browser. */
  hasConsent: boolean;
}

/** The server writes this attribute into the page. */
const { redirectUrl } = document.documentElement.dataset;

export function NewApp({ projectIdOrName, hasConsent, ...props }: NewAppProps) {
  const provider = useFragment(PROVIDER, props.provider);
  const createInput = (values: FormValues) => {
    const readText = (name: string) => String(values[name] ?? '').trim();
    const readMembers = (list: keyof typeof provider.appInputs) =>
      Object.fromEntries(
        provider.appInputs[list]
          .map(({ name }) => [name, readText(`metadata.${list}.${name}`)])
          .filter(([, value]) => value !== ''),
      );
    const lists = APP_INPUT_LISTS.map((list) => [list, readMembers(list)] as const);
    const filledLists = lists.filter(([, members]) => Object.keys(members).length > 0);
    return {
      projectIdOrName,
      provider: provider.name,
      clientId: readText('clientId'),
      clientSecret: readText('clientSecret'),
      scopes: readText('scopes') ? readText('scopes').split(/[\s,]+/) : null,
      webhookSecret: readText('webhookSecret') || null,
      metadata: filledLists.length > 0 ? Object.fromEntries(filledLists) : null,
    };
  };
  return (
    <FormDialog<providerAppsCreateMutation>
      triggerLabel="Add app"
      kind="primary"
      title="Add app"
      submitLabel="Add app"
      mutation={CREATE_PROVIDER_APP}
      variables={(values) => ({ input: createInput(values) })}
    >
      {hasConsent && redirectUrl && (
        <p>
          Register this redirect URL in your app at {provider.displayName}:{' '}
          <Copyable value={redirectUrl} label="redirect URL" />
        </p>
      )}
      <TextInput name="clientId" label="Client ID" isRequired />
      <TextInput name="clientSecret" label="Client secret" type="password" isRequired />
      <TextInput
        name="scopes"
        label="Scopes"
        isRequired={hasConsent && provider.scopes.length > 0}
        defaultValue={provider.scopes.join(' ')}
        lines={3}
        help={
          provider.scopes.length > 0
            ? 'Customers are asked for these. Remove those that your integrations do not need, here and in your app at the provider.'
            : 'Separate scopes by spaces. If empty, no scopes are requested.'
        }
      />
      <TextInput
        name="webhookSecret"
        label="Webhook secret"
        type="password"
        help="Needed only if the provider signs its events with a separate secret."
      />
      {APP_INPUT_LISTS.flatMap((list) =>
        provider.appInputs[list].map(({ name, displayName, optional, prompt, docsUrl }) => (
          <TextInput
            key={name}
            name={`metadata.${list}.${name}`}
            label={displayName}
            isRequired={!optional}
            help={
              <>
                {prompt} {docsUrl && <a href={docsUrl}>About “{displayName}”</a>}
              </>
            }
          />
        )),
      )}
    </FormDialog>
  );
}
