/** Connects an account, either with credentials that the person enters or by consent at the provider. */
import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { credentialsForm_integration$key } from '../__generated__/credentialsForm_integration.graphql.ts';
import type { credentialsForm_provider$key } from '../__generated__/credentialsForm_provider.graphql.ts';
import type { credentialsFormMutation } from '../__generated__/credentialsFormMutation.graphql.ts';
import { Action, Choice, Form, Refusal, TextInput } from '../src/parts/form.tsx';
import { useChange } from '../src/parts/queries.ts';
import { ConsentProgress, useConsent } from './consent-step.tsx';
import { useCustomerProblem } from './customer-problem.ts';
import { describeInput } from './input-help.tsx';
import type { Parties } from './integration-card.tsx';
import { useMessages } from './messages.ts';
import { notifyOpener } from './opener.ts';
import { describeScheme, findMember, listInputs, needsConsent, nestValues } from './schemes.ts';

const PROVIDER = graphql`
  fragment credentialsForm_provider on Provider {
    name
    displayName
    baseUrl
    docsUrl
    authSchemes
    credentialsDocsUrl
    workspaceInput {
      displayName
      optional
      prompt
      docsUrl
      defaultValue
    }
    customInputs {
      name
      displayName
      optional
      isSecret
      prompt
      docsUrl
      defaultValue
    }
  }
`;

const INTEGRATION = graphql`
  fragment credentialsForm_integration on Integration {
    connectInputs {
      name
      displayName
      optional
      prompt
      docsUrl
      defaultValue
    }
  }
`;

const GENERATE_CONNECTION = graphql`
  mutation credentialsFormMutation($input: GenerateConnectionInput!) {
    generateConnection(input: $input) {
      connection {
        id
      }
    }
  }
`;

interface CredentialsFormProps {
  projectId: string;
  parties: Parties;
  provider: credentialsForm_provider$key;
  integration: credentialsForm_integration$key;
  /** `providerMetadata` of the connection that the form renews. Null if there is none. */
  metadata: unknown;
  /** The schemes that the person can choose, at least one. */
  choices: readonly string[];
  onDone: () => void;
}

const WORKSPACE = '{{workspace}}';
const WORKSPACE_NAME = 'providerWorkspaceRef';
const METADATA_PREFIX = 'providerMetadata.';
const CREDENTIALS_PREFIX = 'credentials.';

/** Returns the URL that shows where the workspace stands. Null if the base URL does not contain it. */
function findWorkspaceUrl(baseUrl: string): string | null {
  if (!baseUrl.includes(WORKSPACE)) return null;
  return baseUrl.replace(
    WORKSPACE,
    baseUrl.startsWith(WORKSPACE) ? 'https://workspace' : 'workspace',
  );
}

export function CredentialsForm({
  projectId,
  parties,
  choices,
  metadata,
  onDone,
  ...props
}: CredentialsFormProps) {
  const messages = useMessages();
  const provider = useFragment(PROVIDER, props.provider);
  const { customInputs } = provider;
  const { connectInputs } = useFragment(INTEGRATION, props.integration);
  const workspaceUrl = findWorkspaceUrl(provider.baseUrl);
  const [scheme, setScheme] = useState(choices[0] ?? 'NONE');
  /** The scheme whose error is shown. Null after the person has chosen another one. */
  const [sentScheme, setSentScheme] = useState<string | null>(null);
  const consent = useConsent(onDone);
  const { run, isRunning, ...change } = useChange<credentialsFormMutation>(GENERATE_CONNECTION);
  const inputs = listInputs(messages, scheme, customInputs).map(({ name, ...input }) => ({
    ...input,
    name: CREDENTIALS_PREFIX + name,
  }));
  const metadataNames = connectInputs.map(({ name }) => METADATA_PREFIX + name);
  const fieldNames = [...inputs.map(({ name }) => name), ...metadataNames, WORKSPACE_NAME];
  // A builder creates the client of a consent, so the vendor's page about it does not help the person.
  const isFirstScheme = scheme === provider.authSchemes[0] && !needsConsent(scheme);
  const docsUrl = (isFirstScheme && provider.credentialsDocsUrl) || provider.docsUrl;
  const secretField = inputs.findLast(({ isSecret }) => isSecret)?.name;
  const ownProblem = useCustomerProblem(change.problem, { fields: fieldNames, secretField });
  const lastProblem = needsConsent(scheme) ? consent.problem : ownProblem;
  const problem = sentScheme === scheme ? lastProblem : null;
  const target = { projectIdOrName: projectId, provider: provider.name, ...parties };
  const submit = async (values: Record<string, FormDataEntryValue>) => {
    const { providerMetadata: newMetadata, ...details } = nestValues(values, [
      WORKSPACE_NAME,
      ...metadataNames,
    ]);
    // Modules of other integrations may need the other members.
    const providerMetadata = newMetadata && { ...Object(metadata), ...Object(newMetadata) };
    const providerDetails = { ...details, ...(providerMetadata && { providerMetadata }) };
    setSentScheme(scheme);
    // The input names no scheme, so the gateway uses PKCE if the provider supports it.
    if (needsConsent(scheme)) return consent.start({ ...target, ...providerDetails });
    const credentials = nestValues(
      values,
      inputs.map(({ name }) => name),
    );
    const input = { ...target, authScheme: scheme, ...providerDetails, ...credentials } as never;
    const response = await run({ input });
    if (!response) return;
    notifyOpener({
      type: 'connected',
      connectionId: response.generateConnection.connection.id,
      provider: provider.name,
    });
    onDone();
  };
  if (consent.state !== 'ready') return <ConsentProgress consent={consent} />;
  return (
    <Form problem={problem} onSubmit={submit}>
      {choices.length > 1 && (
        <Choice
          label={messages.howToConnect}
          options={choices.map((id) => ({
            id,
            label: describeScheme(messages, id, customInputs.length > 0),
          }))}
          value={scheme}
          onChange={(id) => {
            setScheme(id);
            setSentScheme(null);
          }}
        />
      )}
      {inputs.map(({ isSecret, isOptional = false, ...input }) => (
        <TextInput
          {...input}
          key={input.name}
          type={isSecret ? 'password' : 'text'}
          isRequired={!isOptional}
        />
      ))}
      {provider.workspaceInput && (
        <TextInput
          name={WORKSPACE_NAME}
          label={provider.workspaceInput.displayName}
          isRequired={!(provider.workspaceInput.optional && needsConsent(scheme))}
          {...describeInput(
            messages,
            provider.workspaceInput,
            workspaceUrl ? messages.workspaceHelp(workspaceUrl) : undefined,
          )}
        />
      )}
      {connectInputs.map((input) => (
        <TextInput
          key={input.name}
          name={METADATA_PREFIX + input.name}
          label={input.displayName}
          isRequired={!input.optional}
          {...describeInput(messages, {
            ...input,
            defaultValue: findMember(metadata, input.name) ?? input.defaultValue,
          })}
        />
      ))}
      {docsUrl && (
        <p className="quiet">
          <a href={docsUrl} target="_blank" rel="noreferrer">
            {messages.providerHelp(provider.displayName)}
          </a>
        </p>
      )}
      <Refusal problem={problem} shownNames={fieldNames} />
      <div className="row end">
        <Action onPress={onDone}>{messages.cancel}</Action>
        <Action type="submit" kind="primary" isPending={isRunning || consent.isStarting}>
          {needsConsent(scheme)
            ? messages.continueToProvider(provider.displayName)
            : messages.connect}
        </Action>
      </div>
    </Form>
  );
}
