/** The read operations of an API key, as `/v1/openapi.json` describes them. */
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: { readonly type?: string; readonly maximum?: number }
}

export interface Described {
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** Measured by the time of its first byte and its rows per second. */
  readonly isExport: boolean
}

interface OpenApi {
  readonly paths: Record<
    string,
    Record<string, { security?: readonly object[]; parameters?: readonly Parameter[] }>
  >
}

export async function readOperations(baseUrl: string): Promise<Described[]> {
  const response = await fetch(`${baseUrl}/openapi.json`)
  const { paths } = (await response.json()) as OpenApi
  return Object.entries(paths).flatMap(([path, { get }]) =>
    get?.security?.length
      ? [{ path, parameters: get.parameters ?? [], isExport: /export/.test(path) }]
      : [],
  )
}

/** The path with each `{…}` replaced according to the segment before it; undefined if a value is missing. */
export function openPaths(
  path: string,
  valueAfter: (segment: string) => string | undefined,
): string | undefined {
  const segments = path.split('/')
  const filled = segments.map((segment, place) =>
    segment.startsWith('{') ? valueAfter(segments[place - 1] ?? '') : segment,
  )
  return filled.includes(undefined) ? undefined : filled.map((one) => one ?? '').join('/')
}
