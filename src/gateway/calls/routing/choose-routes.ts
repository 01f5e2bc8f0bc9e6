import { namesOfMaker } from '../../../money/catalog/find-by-other-name.ts'
import type { Model, Route } from '../../../money/catalog/model.ts'
import { chargeablePrices, type CallSpan } from '../../../money/catalog/route-prices.ts'
import type { ConversationOf } from '../call.ts'
import type { Router } from './create-router.ts'
import type { MaxPrice, RouteChoice } from './route-choice.ts'

/** What an operator lets customers know of an upstream. */
export interface UpstreamTerms {
  /** The name by which callers choose it. Without one, it has the name of the maker of each model. */
  readonly providerName?: string | undefined
  /** Whether it keeps requests or learns from them; undefined if the operator does not say. */
  readonly collectsData?: boolean | undefined
}

/** More than any priority of the configuration. */
const PRIORITIES = 1_001

/** A call whose routes are chosen. */
export interface RoutedCall {
  readonly customerId: string
  readonly conversationOf: ConversationOf
  /** The time of which no price may be above `max_price`. */
  readonly spanOf: () => CallSpan
}

/**
 * Returns the model with the routes that the caller lets answer, in the order that it asks for; undefined if there are
 * none. Called once for a model and a call, before its bound: everything behind it sees no other route.
 */
export function chooseRoutes(
  {
    router,
    termsOf,
  }: {
    readonly router: Pick<Router, 'order'>
    readonly termsOf: (upstreamId: string) => UpstreamTerms | undefined
  },
  model: Model,
  choice: RouteChoice,
  { customerId, conversationOf, spanOf }: RoutedCall,
): Model | undefined {
  const routes = model.routes.flatMap((route): Route[] => {
    const { providerName, collectsData } = termsOf(route.upstreamId) ?? {}
    const names =
      providerName === undefined ? namesOfMaker(model.vendor) : [providerName.toLowerCase()]
    const position = positionIn(choice.order, names)
    const isChosen =
      (choice.only.length === 0 || positionIn(choice.only, names) !== -1) &&
      positionIn(choice.ignore, names) === -1 &&
      (!choice.deniesCollection || collectsData === false) &&
      (choice.allowsFallbacks || choice.order.length === 0 || position !== -1) &&
      (!choice.maxPrice || isWithin(choice.maxPrice, { ...model, routes: [route] }, spanOf()))
    if (!isChosen) return []
    if (choice.order.length === 0) return [route]
    const rank = position === -1 ? choice.order.length : position
    return [{ ...route, priority: rank * PRIORITIES + route.priority }]
  })
  if (routes.length === 0) return undefined
  const strategy = choice.order.length > 0 ? 'priority' : (choice.sort ?? model.strategy)
  const chosen = { ...model, routes, strategy }
  if (choice.allowsFallbacks || choice.order.length > 0) return chosen
  const tried = router.order(chosen, customerId, conversationOf)
  return { ...chosen, routes: (typeof tried === 'string' ? routes : tried).slice(0, 1) }
}

/** `deepinfra` also names `deepinfra/turbo`. */
function positionIn(list: readonly string[], names: readonly string[]): number {
  return list.findIndex((asked) =>
    names.some((name) => name === asked || name.startsWith(`${asked}/`)),
  )
}

/** Whether the customer pays at most this for each token, in every tier and at any time of the span. */
function isWithin({ prompt, completion }: MaxPrice, model: Model, span: CallSpan): boolean {
  const { markupE4 } = model
  const isAtMost = (price: bigint, max: bigint | undefined): boolean =>
    max === undefined || price * markupE4 <= max
  return chargeablePrices(model, span).every(({ tiers }) =>
    tiers.every(
      ({ input, output, reasoning }) =>
        isAtMost(input, prompt) && isAtMost(output, completion) && isAtMost(reasoning, completion),
    ),
  )
}
