/** Shows whether a live list is paused, with a button to pause and resume it. */
import { Action } from './form.tsx';
import { Status } from './status.tsx';

interface LiveControlProps {
  /** The noun for the list's items, in the plural. */
  noun: string;
  isPaused: boolean;
  onChange: (isPaused: boolean) => void;
}

export function LiveControl({ noun, isPaused, onChange }: LiveControlProps) {
  return (
    <>
      {isPaused && <span className="quiet">No {noun} are missed.</span>}
      <Status value={isPaused ? 'PAUSED' : 'LIVE'} />
      <Action onPress={() => onChange(!isPaused)}>{isPaused ? 'Resume' : 'Pause'}</Action>
    </>
  );
}
