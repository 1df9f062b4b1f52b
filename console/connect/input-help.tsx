/** Help for a value that a person enters to connect: where to find it, and the value that the provider suggests. */
import type { ReactNode } from 'react';
import type { Messages } from './messages.ts';

export interface HelpedInput {
  displayName: string;
  prompt: string | null | undefined;
  docsUrl: string | null | undefined;
  defaultValue: string | null | undefined;
}

/** Returns the properties of a field. `usualHelp` stands in for a missing prompt. */
export function describeInput(
  messages: Messages,
  { displayName, prompt, docsUrl, defaultValue }: HelpedInput,
  usualHelp?: string,
): { help?: ReactNode; defaultValue?: string } {
  const text = prompt ?? usualHelp;
  const help = (
    <>
      {text && formatPrompt(text)}{' '}
      {docsUrl && (
        <a href={docsUrl} target="_blank" rel="noreferrer">
          {messages.inputHelp(displayName)}
        </a>
      )}
    </>
  );
  return { ...((text || docsUrl) && { help }), ...(defaultValue && { defaultValue }) };
}

/** Backticks of a prompt enclose code. */
function formatPrompt(prompt: string): ReactNode[] {
  return prompt.split('`').map((part, index) =>
    // A prompt does not change, so the index identifies the part.
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  );
}
