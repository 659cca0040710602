// An OpenID provider on loopback for the tests: `node provider.mjs MODULES REDIRECT...` prints its issuer. Its people have no passwords.
// POST /keys makes it sign with a new key from then on; GET /people/NAME says who logs in next.
import { createServer } from 'node:http';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, ...redirects] = process.argv.slice(2);
const require = createRequire(modules + '/');
const { default: Provider } = await import(pathToFileURL(require.resolve('oidc-provider')));
const GROUPS = { ada: ['ml-vision', 'everybody'], boss: ['costs-admins', 'ml-vision'], lost: ['somewhere-else'] };

const jwk = () => ({ ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: randomUUID() });
let next = 'ada';
let provider;

function make(issuer, keys) {
  provider = new Provider(issuer, {
    clients: [{
      client_id: 'apportion', client_secret: 'a secret/with+odd:letters', redirect_uris: redirects.map((base) => base + '/login/callback'),
      post_logout_redirect_uris: redirects.map((base) => base + '/login'), token_endpoint_auth_method: 'client_secret_basic',
    }],
    jwks: { keys },
    cookies: { keys: ['of the tests'] },
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    conformIdTokenClaims: false,
    scopes: ['openid', 'profile'],
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, preferred_username: id, groups: GROUPS[id] }) }),
    ttl: { Session: 60, Interaction: 60, Grant: 60, IdToken: 60, AccessToken: 60, AuthorizationCode: 60 },
  });
}

async function interact(request, response) {
  const { prompt, params } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: next } });
  }
  const grant = new provider.Grant({ accountId: next, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

const server = createServer((request, response) => {
  if (request.url.startsWith('/interaction/')) return interact(request, response);
  if (request.url.startsWith('/people/')) { next = request.url.slice(8); return response.end(); }
  if (request.url === '/keys') { make(issuer, [jwk()]); return response.end(); }
  return provider.callback()(request, response);
});
let issuer;
server.listen(0, '127.0.0.1', () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  make(issuer, [jwk()]);
  console.log(issuer);
});
process.stdin.resume();
process.stdin.on('end', () => process.exit(0)); // with the tests that started it
