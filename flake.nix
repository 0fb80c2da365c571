# hutch as a nix package: `nix run github:OWNER/hutch -- bash`, `nix profile install .`,
# `nix develop` for working on it.
#
# On Ubuntu 24.04 and later a hutch in /nix/store may make no user namespaces: the
# AppArmor profile in share/apparmor names root-owned paths only. There, copy
# result/bin/hutch to /usr/local/bin as root; it is one static file.
#
# There is no flake.lock yet: this was written, and its syntax checked, without internet.
{
  description = "Run AI coding agents, and any other command, in a sandbox on Linux";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      forEachSystem = make: nixpkgs.lib.genAttrs [ "x86_64-linux" "aarch64-linux" ]
        (system: make nixpkgs.legacyPackages.${system});

      # meson.build is the one place that knows the version.
      version = builtins.head (builtins.match
        ".*project\\('hutch', 'c',[[:space:]]*version: '([^']+)'.*"
        (builtins.readFile ./meson.build));

      # hutch is one static image, against glibc: it uses calls that musl does not have,
      # which rules out pkgsStatic. The libraries come as shared objects only by default.
      package =
        { lib, stdenv, glibc, meson, ninja, pkg-config, scdoc, python3
        , libfyaml, jansson, libseccomp }:
        stdenv.mkDerivation {
          pname = "hutch";
          inherit version;
          src = self;

          strictDeps = true;
          nativeBuildInputs = [ meson ninja pkg-config scdoc python3 ];
          buildInputs = [
            glibc.static
            (libfyaml.overrideAttrs { dontDisableStatic = true; })
            (jansson.overrideAttrs (old: {
              cmakeFlags = (old.cmakeFlags or [ ]) ++ [ "-DJANSSON_BUILD_SHARED_LIBS=OFF" ];
            }))
            libseccomp
          ];

          # The programs in tools/ that the build runs.
          postPatch = "patchShebangs tools";

          # Warnings differ between compilers; they are errors in our own builds only.
          mesonFlags = [ "-Dwerror=false" ];

          # The tests make sandboxes, which the sandbox of nix does not allow.
          doCheck = false;

          meta = {
            description = "Run AI coding agents, and any other command, in a sandbox on Linux";
            license = lib.licenses.mit;
            platforms = lib.platforms.linux;
            mainProgram = "hutch";
          };
        };
    in
    {
      packages = forEachSystem (pkgs: rec {
        hutch = pkgs.callPackage package { };
        default = hutch;
      });

      apps = forEachSystem (pkgs: {
        default = {
          type = "app";
          program = "${self.packages.${pkgs.stdenv.hostPlatform.system}.hutch}/bin/hutch";
        };
      });

      # The environment of the package itself, plus what `make check` compares with or
      # runs through a sandbox.
      devShells = forEachSystem (pkgs: {
        default = self.packages.${pkgs.stdenv.hostPlatform.system}.hutch.overrideAttrs (old: {
          nativeBuildInputs = old.nativeBuildInputs ++ (with pkgs; [
            bubblewrap clang clang-tools direnv gdb git jq nodejs shellcheck strace
          ]);
        });
      });
    };
}
