/** Edits the content of a new integration, with a form that fills a template or as YAML. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import type { integrationFormDestinationMutation } from '../../__generated__/integrationFormDestinationMutation.graphql.ts';
import type {
  IntegrationContentInput,
  integrationFormMutation,
} from '../../__generated__/integrationFormMutation.graphql.ts';
import type { Problem } from '../network/problem.ts';
import {
  Action,
  CheckBox,
  Choice,
  Form,
  type FormValues,
  Refusal,
  TextInput,
} from '../parts/form.tsx';
import { Panel } from '../parts/page.tsx';
import { useChange } from '../parts/queries.ts';
import { ManifestReference } from './manifest-reference.tsx';
import { RevisionEditor } from './revision-editor.tsx';
import { createContent, type Draft, listTemplates, type Purpose, SCHEDULES } from './template.ts';
import { formatYaml, YAML_TEXT } from './yaml-text.ts';

const CREATE_INTEGRATION = graphql`
  mutation integrationFormMutation($input: CreateIntegrationInput!) {
    createIntegration(input: $input) {
      integration {
        name
      }
      warnings
    }
  }
`;

const CREATE_DESTINATION = graphql`
  mutation integrationFormDestinationMutation($input: CreateDestinationInput!) {
    createDestination(input: $input) {
      destination {
        id
      }
    }
  }
`;

/** The name of the stream that the page creates if the project has no destination. */
const STREAM = 'records';
const OBJECT = 'object.';
const YAML = 'yaml';

interface IntegrationFormProps {
  project: string;
  provider: {
    name: string;
    supports: readonly string[];
    objects: readonly { name: string; displayName: string }[];
  };
  /** The names of the project's destinations. */
  destinations: readonly string[];
  onDone: (name: string) => void;
  onCancel: () => void;
}

export function IntegrationForm(props: IntegrationFormProps) {
  const { project, provider, destinations, onDone, onCancel } = props;
  const [yaml, setYaml] = useState<string | null>(null);
  const create = useChange<integrationFormMutation>(CREATE_INTEGRATION);
  const stream = useChange<integrationFormDestinationMutation>(CREATE_DESTINATION);

  /** Resolves with the warnings, or with null if the gateway refused the content. */
  const save = async (content: Record<string, unknown>) => {
    if (destinations.length === 0) {
      const input = { projectIdOrName: project, name: STREAM, type: 'STREAM' as const };
      if (!(await stream.run({ input }))) return null;
    }
    const response = await create.run({
      input: {
        projectIdOrName: project,
        name: String(content.name),
        provider: String(content.provider),
        // The gateway validates the content.
        latestRevision: { specVersion: '1.0.0', content: content as IntegrationContentInput },
      },
    });
    return response?.createIntegration.warnings ?? null;
  };
  if (yaml !== null) {
    return (
      <div className="beside">
        <Panel
          title="Manifest"
          actions={<Action onPress={() => setYaml(null)}>Discard, and use the form</Action>}
        >
          <RevisionEditor
            format={YAML_TEXT}
            initial={yaml}
            problem={stream.problem ?? create.problem}
            prefix="input.latestRevision.content."
            isRunning={stream.isRunning || create.isRunning}
            submitLabel="Create integration"
            onSave={save}
            onDone={({ name }) => onDone(String(name))}
            onCancel={onCancel}
          />
        </Panel>
        <Panel>
          <ManifestReference />
        </Panel>
      </div>
    );
  }
  return (
    <Panel>
      <TemplateForm
        provider={provider}
        destinations={destinations}
        problem={stream.problem ?? create.problem}
        isRunning={stream.isRunning || create.isRunning}
        onSave={async (draft) => {
          if (await save(createContent(draft))) onDone(draft.name);
        }}
        onYaml={(draft) => setYaml(formatYaml(createContent(draft)))}
        onCancel={onCancel}
      />
    </Panel>
  );
}

interface TemplateFormProps
  extends Pick<IntegrationFormProps, 'provider' | 'destinations' | 'onCancel'> {
  problem: Problem | null;
  isRunning: boolean;
  onSave: (draft: Draft) => void;
  onYaml: (draft: Draft) => void;
}

function TemplateForm(props: TemplateFormProps) {
  const { provider, destinations, problem, isRunning, onSave, onYaml, onCancel } = props;
  const templates = listTemplates(provider.supports);
  const [purpose, setPurpose] = useState<Purpose>('READ');
  const [schedule, setSchedule] = useState(SCHEDULES[0]?.id ?? '');
  const [destination, setDestination] = useState(destinations[0] ?? STREAM);
  const createDraft = (values: FormValues): Draft => ({
    purpose,
    schedule,
    destination,
    provider: provider.name,
    name: String(values.name).trim(),
    objects:
      provider.objects.length > 0
        ? provider.objects.map(({ name }) => name).filter((name) => values[OBJECT + name])
        : String(values.objects)
            .split(/[\s,]+/)
            .filter(Boolean),
  });
  const submit = (values: FormValues) =>
    values.as === YAML ? onYaml(createDraft(values)) : onSave(createDraft(values));
  return (
    <Form onSubmit={submit} problem={problem}>
      <TextInput
        name="name"
        label="Name"
        isRequired
        defaultValue={`${provider.name}-sync`}
        help="Your backend uses it in API calls."
      />
      <Choice
        label="Template"
        options={templates}
        value={purpose}
        onChange={(id) => setPurpose(id as Purpose)}
      />
      <fieldset className="fields">
        <legend className="strong">Objects</legend>
        {provider.objects.length === 0 ? (
          <TextInput
            name="objects"
            label="Names"
            isRequired
            help="Enter the names that the provider’s API uses, separated by spaces."
          />
        ) : (
          <div className="checks">
            {provider.objects.map(({ name, displayName }, index) => (
              <CheckBox
                key={name}
                name={OBJECT + name}
                label={displayName}
                isCheckedByDefault={index === 0}
              />
            ))}
          </div>
        )}
      </fieldset>
      <Choice label="Schedule" options={SCHEDULES} value={schedule} onChange={setSchedule} />
      {destinations.length > 0 ? (
        <Choice
          label="Destination of records"
          options={destinations.map((name) => ({ id: name, label: name }))}
          value={destination}
          onChange={setDestination}
        />
      ) : (
        <p className="quiet">
          Records go to a new stream, “{STREAM}”, which your backend reads. You can add a webhook
          later.
        </p>
      )}
      <Refusal problem={problem} />
      <div className="row">
        <Action type="submit" kind="primary" isPending={isRunning}>
          Create integration
        </Action>
        <Action type="submit" name="as" value={YAML}>
          Edit as YAML
        </Action>
        <Action kind="quiet" onPress={onCancel}>
          Cancel
        </Action>
      </div>
    </Form>
  );
}
