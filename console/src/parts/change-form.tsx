/** A form for one mutation: its inputs, the gateway's errors next to them, and its button. */
import { type ReactNode, useState } from 'react';
import type { GraphQLTaggedNode, MutationParameters } from 'relay-runtime';
import { Action, Form, type FormValues, Refusal } from './form.tsx';
import { type ChangeResponse, useChange } from './queries.ts';

export interface ChangeFormProps<Mutation extends MutationParameters> {
  mutation: GraphQLTaggedNode;
  /** Creates the mutation's variables from the values of the inputs. */
  variables: (values: FormValues) => Mutation['variables'];
  /** The label of the submit button. */
  submitLabel: string;
  kind?: 'primary' | 'plain' | 'danger';
  /** True if the response contains every change, so that pages are not refreshed. */
  skipRefetch?: boolean;
  /** True if the form is cleared after success, so that the user can add the next item. */
  clears?: boolean;
  onDone?: (response: ChangeResponse<Mutation>) => void;
  /** Adds a button that cancels the form. */
  onCancel?: () => void;
  children: ReactNode;
}

export function ChangeForm<Mutation extends MutationParameters>(props: ChangeFormProps<Mutation>) {
  const {
    mutation,
    variables,
    submitLabel,
    kind = 'plain',
    skipRefetch = false,
    clears = false,
  } = props;
  const { run, isRunning, problem } = useChange<Mutation>(mutation, { skipRefetch });
  const [names, setNames] = useState<string[]>([]);
  const [formKey, setFormKey] = useState(0);
  const save = async (values: FormValues) => {
    setNames(Object.keys(values));
    const response = await run(variables(values));
    if (!response) return;
    if (clears) setFormKey(formKey + 1);
    props.onDone?.(response);
  };
  return (
    <Form key={formKey} problem={problem} onSubmit={save}>
      {props.children}
      <Refusal problem={problem} shownNames={names} />
      <div className={props.onCancel ? 'row end' : 'row'}>
        {props.onCancel && <Action onPress={props.onCancel}>Cancel</Action>}
        <Action type="submit" kind={kind} isPending={isRunning}>
          {submitLabel}
        </Action>
      </div>
    </Form>
  );
}
