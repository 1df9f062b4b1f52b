/** A plot over time, drawn by uPlot: bars or lines, in the page's colors. */
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface Series {
  name: string;
  tone: 'good' | 'bad' | 'accent' | 'busy';
  values: readonly (number | null)[];
}

interface PlotProps {
  /** A text with the plot's content and sums, for screen readers. */
  label: string;
  /** The starts of the buckets, in seconds. */
  times: readonly number[];
  series: readonly Series[];
  style?: PlotStyle;
}

type PlotStyle = 'bars' | 'lines';

const HEIGHT_PX = 190;
const BAR_SHARE = 0.7;
const BAR_PX_MAX = 28;
const WHOLE_STEPS = Array.from({ length: 9 }, (_none, zeros) => 10 ** zeros).flatMap((unit) => [
  unit,
  2 * unit,
  5 * unit,
]);

const getColor = (name: string, element: Element) => {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

export function Plot({ label, times, series, style = 'bars' }: PlotProps) {
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const draw = () => {
      const plot = new UPlot(
        createOptions(element, { times, series, style }),
        createData(times, series),
        element,
      );
      return () => plot.destroy();
    };
    let destroyPlot = draw();
    const redraw = () => {
      destroyPlot();
      destroyPlot = draw();
    };
    const sizeObserver = new ResizeObserver(redraw);
    sizeObserver.observe(element);
    const colorScheme = matchMedia('(prefers-color-scheme: dark)');
    colorScheme.addEventListener('change', redraw);
    const themeObserver = new MutationObserver(redraw);
    themeObserver.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      sizeObserver.disconnect();
      themeObserver.disconnect();
      colorScheme.removeEventListener('change', redraw);
      destroyPlot();
    };
  }, [times, series, style]);
  return <div ref={container} className="plot" role="img" aria-label={label} />;
}

function createData(times: readonly number[], series: readonly Series[]): UPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

/** Returns the length of a bucket. */
function getBucketSeconds([first = 0, second = first + 1]: readonly number[]): number {
  return second - first;
}

function createOptions(
  element: HTMLElement,
  { times, series, style }: Required<Omit<PlotProps, 'label'>>,
): UPlot.Options {
  const [text, line] = [getColor('quiet', element), getColor('line', element)];
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
  const formatTime = createTimeFormat(times);
  const isBars = style === 'bars';
  const bars = isBars && UPlot.paths.bars?.({ size: [BAR_SHARE, BAR_PX_MAX] });
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    padding: [12, 8, 0, 0],
    cursor: { points: { show: false } },
    scales: {
      // Adds half a bucket at both ends of the time axis, because the first and the last bar are centered on
      // their times.
      x: {
        range: (_plot, min, max) => [
          min - getBucketSeconds(times) / 2,
          max + getBucketSeconds(times) / 2,
        ],
      },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_plot, seconds) => seconds.map(formatTime),
      },
      // Bars show counts, so the axis has only whole numbers.
      { ...axis, size: 44, ...(isBars && { incrs: WHOLE_STEPS }) },
    ],
    series: [
      // The legend's value is null while the pointer is not over the plot.
      { label: 'Time', value: (_plot, seconds) => (seconds === null ? '' : formatTime(seconds)) },
      ...series.map(({ name, tone }, index) => ({
        label: name,
        value: (_plot: UPlot, value: number | null) => value?.toLocaleString('en') ?? '',
        stroke: getColor(tone, element),
        ...(isBars
          ? { fill: getColor(tone, element), width: 0, points: { show: false } }
          : createLineStyle(index, series.length)),
        ...(bars && { paths: bars }),
      })),
    ],
  };
}

const DASH_PX = 4;
const POINT_PX = 4;
const RING_PX = 3;

/**
 * Lines with equal values, such as percentiles of few attempts, are drawn over each other. Each line has larger gaps and
 * smaller points than the lines before it, so that all of them are visible.
 */
function createLineStyle(index: number, lines: number) {
  const dash = [DASH_PX * (lines - index), DASH_PX * index];
  const size = POINT_PX + RING_PX * (lines - 1 - index);
  return { width: 2, points: { show: true, size }, ...(index > 0 && { dash }) };
}

const DAY_SECONDS = 86_400;
const hourFormat = new Intl.DateTimeFormat('en', { timeStyle: 'short', hourCycle: 'h23' });
const dayFormat = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });

/** Formats times as days if the buckets are days, and otherwise as 24-hour times. */
function createTimeFormat(times: readonly number[]): (seconds: number) => string {
  const format = getBucketSeconds(times) >= DAY_SECONDS ? dayFormat : hourFormat;
  return (seconds) => format.format(seconds * 1_000);
}
