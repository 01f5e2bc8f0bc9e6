/**
 * Routes as data: the server registers them with their dependencies, and the API description is built from the same
 * list without any.
 */
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
  RouteShorthandOptions,
} from 'fastify'
import { isAccess, type Access } from './access.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly access?: Access
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Which database a route reads, where the operator has a replica. */
export type ReadsFrom = 'primary' | 'replica'

export interface Route<Deps> {
  readonly method: Method | readonly Method[]
  /** The full path, with `:name` for each parameter. */
  readonly url: string
  readonly access: Access
  /** The stricter access of some requests, and the condition for it. */
  readonly stricter?: { readonly access: Access; readonly when: string }
  readonly readsFrom?: ReadsFrom
  /** Describes the route, and validates its input. */
  readonly schema: object
  readonly bodyBytesMax?: number | undefined
  /** The route authenticates its callers before it reads a body, which may be as large as those of model calls. */
  readonly takesLargeBodies?: boolean
  /** The handler reads the body from the connection; it is never buffered before. */
  readonly isBodyStreamed?: boolean
  /** The handlers of one server, created when it registers the route. */
  readonly handlersOf: (deps: Deps) => RouteHandlers
}

export interface RouteHandlers extends Pick<
  RouteShorthandOptions,
  'onRequest' | 'preValidation' | 'validatorCompiler' | 'onSend'
> {
  readonly handler: RouteHandlerMethod
}

/** The dependencies of all routes of a list together. */
export type DepsOf<Routes extends readonly Route<never>[]> = (
  Routes[number] extends infer Each
    ? Each extends Route<infer Deps>
      ? (deps: Deps) => void
      : never
    : never
) extends (deps: infer All) => void
  ? All
  : never

/** A route that the API description leaves out: a page, or an endpoint for other machines. */
export function hiddenRoute<Deps = unknown>(
  declared: Pick<Route<Deps>, 'method' | 'url' | 'access' | 'bodyBytesMax'> & {
    handle(request: FastifyRequest, reply: FastifyReply, deps: Deps): unknown
  },
): Route<Deps> {
  const { method, url, access, bodyBytesMax } = declared
  return {
    method,
    url,
    access,
    bodyBytesMax,
    schema: { hide: true },
    handlersOf: (deps) => ({
      handler: (request, reply) => declared.handle(request, reply, deps),
    }),
  }
}

export function addRoutes<Each extends Route<never>>(
  server: FastifyInstance,
  routes: readonly Each[],
  handlersOf: (route: Each) => RouteHandlers,
  largeBodyBytesMax?: number,
): void {
  for (const each of routes) {
    const route = each.takesLargeBodies ? { ...each, bodyBytesMax: largeBodyBytesMax } : each
    if (!route.isBodyStreamed) {
      addRoute(server, route, handlersOf(each))
      continue
    }
    server.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      addRoute(scope, route, handlersOf(each))
    })
  }
}

function addRoute(server: FastifyInstance, route: Route<never>, handlers: RouteHandlers): void {
  const { method, url, access, schema, bodyBytesMax, readsFrom } = route
  // The types demand it too, but a route without a known access must not exist even if they are evaded.
  if (!isAccess(access)) throw new Error(`${url} declares no access: ${String(access)}`)
  if (readsFrom === 'replica' && method !== 'GET')
    throw new Error(`${url} acts, and an act cannot be read from a replica`)
  server.route({
    method: typeof method === 'string' ? method : [...method],
    url,
    schema,
    config: { access },
    ...(bodyBytesMax === undefined ? {} : { bodyLimit: bodyBytesMax }),
    ...handlers,
  })
}
